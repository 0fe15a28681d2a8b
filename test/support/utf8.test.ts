import fc from 'fast-check'
import t from 'tap'
import { utf8Of } from '../../src/support/utf8.ts'

const ascii = fc.string({ unit: 'binary-ascii', maxLength: 200 })
const any = fc.string({ unit: 'binary', maxLength: 200 })

t.test('texts and bytes become what node makes of them', (t) => {
  fc.assert(
    fc.property(fc.array(fc.oneof(ascii, any, any.map(Buffer.from))), (parts) => {
      const bytes = utf8Of(({ put, write }) => {
        for (const part of parts)
          if (typeof part === 'string') write(part)
          else put(part)
      })
      const expected = Buffer.concat(parts.map((part) => Buffer.from(part)))
      t.ok(bytes.equals(expected))
    }),
  )
  t.end()
})

t.test('a text becomes the JSON that JSON.stringify makes', (t) => {
  const text = fc.oneof(ascii, any, fc.constantFrom('', 'plain', '“quoted”', 'a"b', 'a\\b', 'a\n'))
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const bytes = utf8Of(({ json }) => texts.forEach(json))
      t.equal(String(bytes), texts.map((json) => JSON.stringify(json)).join(''))
    }),
  )
  t.end()
})

t.test('longer than the buffer; earlier results stay unchanged', (t) => {
  const long = 'é“x'.repeat(200_000)
  const first = utf8Of(({ write }) => write('first'))
  const second = utf8Of(({ put, write }) => {
    for (let n = 0; n < 4; n++) {
      write(long)
      put(Buffer.from(long))
    }
  })
  const third = utf8Of(({ write }) => write('third'))
  t.equal(String(first), 'first')
  t.ok(second.equals(Buffer.from(long.repeat(8))))
  t.equal(String(third), 'third')
  t.equal(utf8Of(() => undefined).length, 0)
  t.end()
})

t.test('what could not be composed leaves nothing behind', (t) => {
  const failing = () =>
    utf8Of(({ write }) => {
      write('half')
      throw new Error('no')
    })
  t.throws(failing, { message: 'no' })
  t.equal(String(utf8Of(({ write }) => write('whole'))), 'whole')
  t.end()
})
