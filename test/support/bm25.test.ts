import t from 'tap'
import { bm25, hasContent } from '../../src/support/bm25.ts'

/** The texts that a query finds, the best first. */
const matches = (texts: readonly string[], query: string): string[] => {
  const index = bm25()
  for (const text of texts) index.add(text)
  return index.search(query, 10).map(({ document }) => texts[document] ?? '')
}

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
  t.strictSame(index.search('the of', 10), [])
  t.strictSame(index.search('constructor __proto__', 10), [])
})

t.test('a word finds its other forms', (t) => {
  for (const [text, query] of [
    ['The invoices were refunded.', 'refund an invoice'],
    ['two companies', 'company'],
    ['Die Häuser sind alt und die Straßen sind eng.', 'HAUS STRASSE'],
    ['Die Häuser sind alt und die Straßen sind eng.', 'hauser'],
    ['un café et des élèves dans la ville', 'cafe'],
    ['un cafe et des eleves dans la ville', 'élève'],
    ['Книги лежат на столе, и это всё', 'книга'],
    ['लड़कियों की किताबें और उनके घर', 'लड़की'],
    ['Ｎｏ． ﬁles', 'FILE'],
    ['Zusammen\u00adarbeit', 'Zusammenarbeit'],
    ['我家有一只猫。', '猫'],
    ['東京都に行きました', '東京'],
    ['iPhoneを買う', 'iphone'],
    ['집에서 책을 읽었습니다', '책'],
    ['집에서 책을 읽었습니다', '집은'],
    ['학교에서 공부한다', '학교'],
    ['แมวของฉันชอบปลา', 'แมว'],
  ] as const)
    t.strictSame(matches([text, 'x y z'], query), [text], query)
  t.end()
})

t.test('a number finds its digits in a text of another script', (t) => {
  const text = 'في عام ٢٠٢٤ كان على'
  t.strictSame(matches([text], '2024'), [text])
  t.end()
})

t.test('words with the accents of the query come before words without', (t) => {
  t.strictSame(matches(['le résumé', 'le resume'], 'resume').length, 2)
  t.strictSame(matches(['ma', 'má', 'mà', 'mạ', 'mã'], 'mạ')[0], 'mạ')
  t.end()
})

t.test('function words count when a query has no others, or when they are abbreviations', (t) => {
  const texts = ['who is it for', 'The IT department of the WHO', 'a house', 'US taxes for us all']
  t.strictSame(matches(texts, 'who is it').toSorted(), [texts[1], texts[0]])
  t.equal(matches(texts, 'IT')[0], texts[1])
  t.equal(matches(texts, 'What does the WHO do?')[0], texts[1])
  t.strictSame(matches(texts, 'US')[0], texts[3])
  t.strictSame(matches(texts, 'the house for it'), [texts[2]])
  t.notOk(hasContent('what is it'))
  t.ok(hasContent('what is IT'))
  t.ok(hasContent('what is rust'))
  t.end()
})

t.test('a short query is in the language of the texts', (t) => {
  const german = ['Die Verträge sind mit der Bank', 'Das Wetter und der Wind']
  t.strictSame(matches(german, 'Vertrag'), [german[0]])
  const both = [...german, 'The contracts are with the bank', 'It was about the weather']
  t.strictSame(matches(both, 'Vertrag'), [german[0]])
  t.strictSame(matches(both, 'contract'), [both[2]])
  t.end()
})

t.test('a query counts by its first 64 words and 10,000 characters', (t) => {
  const many = Array.from({ length: 70 }, (_, n) => `word${n}x`)
  t.strictSame(matches(['word69x', 'word3x'], many.join(' ')), ['word3x'])
  t.strictSame(matches(['zebra'], `${'the '.repeat(2_500)}zebra`), [])
  t.end()
})

t.test('a long word and a flood of marks take little memory', (t) => {
  const index = bm25()
  index.add('x'.repeat(1_000_000))
  index.add(`a${'\u0301'.repeat(1_000_000)}`)
  t.ok(index.size < 2_000)
  t.end()
})
