import fc from 'fast-check'
import t from 'tap'
import {
  areEqual,
  fromBase64,
  joined,
  textOf,
  toBase64,
  toHex,
  utf8,
} from '../../../console/src/proof/bytes.ts'

t.test('base64 of any bytes is decoded to them', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      return toBase64(bytes) === text && areEqual(fromBase64(text) ?? utf8('x'), bytes)
    }),
  )
  t.strictSame(fromBase64(''), new Uint8Array())
})

t.test('text that is not standard, canonical base64 is refused', async (t) => {
  for (const text of [
    'A',
    'AA',
    'AAA',
    'AA==AA==',
    'AA=',
    'A===',
    '====',
    'AA\n==',
    ' AAAA',
    'AA-_',
  ])
    t.equal(fromBase64(text), undefined, JSON.stringify(text))
  t.equal(fromBase64('AB=='), undefined, 'bits behind the last byte are set')
})

t.test('bytes that are not UTF-8 have no text', async (t) => {
  t.equal(textOf(Uint8Array.of(0xff)), undefined)
  t.equal(textOf(Uint8Array.of(0xe2, 0x80)), undefined)
  t.equal(textOf(utf8('\ufeff—')), '\ufeff—', 'a byte order mark stays')
})

t.test('bytes are joined, compared and written in hex', async (t) => {
  t.equal(toHex(joined(Uint8Array.of(0, 15), Uint8Array.of(255))), '000fff')
  t.equal(areEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 2)), true)
  t.equal(areEqual(Uint8Array.of(1, 2), Uint8Array.of(1)), false)
  t.equal(areEqual(Uint8Array.of(1, 2), Uint8Array.of(1, 3)), false)
})
