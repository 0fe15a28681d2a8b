import t from 'tap'
import { bm25, termsOf } from '../../src/support/bm25.ts'

t.test('terms', async (t) => {
  t.strictSame(termsOf('The Invoices, and an invoice!'), ['invoic', 'invoic'])
  t.strictSame(termsOf('refunded refunding companies pass'), [
    'refund',
    'refund',
    'company',
    'pass',
  ])
  t.strictSame(termsOf('東京都 ok 木'), ['東京', '京都', 'ok', '木'])
})

t.test('the best come first', async (t) => {
  const index = bm25()
  t.strictSame(index.search('anything', 3), [])
  for (const text of ['Cats and dogs', 'Dogs, dogs, dogs', 'Birds', 'Cats']) index.add(text)
  t.strictSame(
    index.search('a dog', 10).map(({ document }) => document),
    [1, 0],
  )
  t.strictSame(
    index.search('cats', 1).map(({ document }) => document),
    [3],
  )
  t.strictSame(index.search('the of and', 10), [])
  t.strictSame(index.search('constructor __proto__', 10), [])
})
