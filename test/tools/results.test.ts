import t from 'tap'
import { resultText } from '../../src/tools/results.ts'

t.test('a result is cut between grapheme clusters, and says so', async (t) => {
  t.equal(resultText(`ab👍🏽cd`, 5), 'ab\n[cut: the first 5 of 8 characters]')
  t.equal(resultText('ab👍🏽cd', 6), 'ab👍🏽\n[cut: the first 6 of 8 characters]')
  t.equal(resultText('ab👍🏽cd', 8), 'ab👍🏽cd')
})

t.test('halves of surrogate pairs are replaced', async (t) => {
  t.equal(resultText('a\ud83d'), 'a\ufffd')
  t.equal(resultText('\udc00bc', 2), '\ufffdb\n[cut: the first 2 of 3 characters]')
})
