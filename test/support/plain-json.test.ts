import fc from 'fast-check'
import t from 'tap'
import { jsonString } from '../../src/support/plain-json.ts'

t.test('every text is written as JSON.stringify writes it', (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.constantFrom(
      '',
      '"',
      '\\',
      '\u001f',
      '\u007f',
      '\u2028',
      '\ud800',
      '\udfff',
      '\ue000',
      '🦊',
    ),
  )
  fc.assert(fc.property(text, (sample) => t.equal(jsonString(sample), JSON.stringify(sample))))
  t.end()
})
