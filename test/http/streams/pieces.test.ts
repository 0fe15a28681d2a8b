import t from 'tap'
import { piecesOf } from '../../../src/http/streams/pieces.ts'

t.test('pieces give the text again, and none cuts a grapheme cluster', async (t) => {
  const long = `e${'\u0301'.repeat(100)}`
  for (const cluster of ['a', '👍🏽', '👨‍👩‍👧‍👦', '🇩🇪', long])
    for (const before of ['', 'b', 'bcd']) {
      const text = `{"${before}":"${cluster.repeat(500)}"}`
      const pieces = piecesOf(text)
      t.equal(pieces.join(''), text)
      t.ok(pieces.length > 1 && pieces.length <= 100, `${pieces.length}`)
      const rest = pieces.map((piece) => piece.replaceAll(cluster, '')).join('')
      t.equal(rest, `{"${before}":""}`)
    }
})

t.test('a text without characters has no pieces', async (t) => {
  t.strictSame(piecesOf(''), [])
})
