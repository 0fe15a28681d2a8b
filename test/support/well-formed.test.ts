import t from 'tap'
import { wellFormedJson, wellFormedPieces } from '../../src/support/well-formed.ts'

t.test('halves in JSON are replaced, escaped or not; pairs and other escapes stay', async (t) => {
  const cases: [json: string, whole: string][] = [
    ['{"a":"\ud800"}', '{"a":"\ufffd"}'],
    ['"\\ud800 \\uDC00x"', '"\ufffd \ufffdx"'],
    ['"\\ud83d\\ude00"', '"\\ud83d\\ude00"'],
    ['"\\ud83d\\ud83d\\ude00\\ude00"', '"\ufffd\\ud83d\\ude00\ufffd"'],
    ['"\\\\ud800 \\\\\\ud800"', '"\\\\ud800 \\\\\ufffd"'],
    ['"\\u00e4\\n\\"\\ud800"', '"\\u00e4\\n\\"\ufffd"'],
    ['{}', '{}'],
  ]
  for (const [json, expected] of cases) t.equal(wellFormedJson(json), expected)
})

t.test('a pair that two pieces divide is put together, and a half is replaced', async (t) => {
  const piecesOf = (...pieces: string[]) => {
    const { next, rest } = wellFormedPieces()
    return [...pieces.map(next), rest()]
  }
  t.strictSame(piecesOf('a', 'b'), ['a', 'b', ''])
  t.strictSame(piecesOf('a\ud83d', '\ude00b'), ['a', '😀b', ''])
  t.strictSame(piecesOf('\ud83d', '', '\ude00'), ['', '', '😀', ''])
  t.strictSame(piecesOf('\ud83d', 'x', '\ude00'), ['', '\ufffdx', '\ufffd', ''])
  t.strictSame(piecesOf('\ud83d\ud83d', '\ude00\ud83d'), ['\ufffd', '😀', '\ufffd'])
})
