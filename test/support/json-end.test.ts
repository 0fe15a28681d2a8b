import fc from 'fast-check'
import t from 'tap'
import { beginsValue, jsonEnd } from '../../src/support/json-end.ts'

const value = fc.oneof(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()))

t.test('a value ends where it ends, however it is cut and whatever follows', async () => {
  fc.assert(
    fc.property(value, fc.string(), fc.nat(40), fc.nat(4), (value, behind, size, space) => {
      const text = JSON.stringify(value, null, space)
      const body = ` \n${text}${behind}`
      const end = jsonEnd()
      for (let at = 0; at < body.length; at += size + 1) {
        const length = end(body.slice(at, at + size + 1))
        if (length !== -1) return at + length === text.length + 2 && !end.isOpen()
        if (at > 1 && !end.isOpen()) return false
      }
      return false
    }),
  )
})

t.test('a text that is neither object nor array has no end', async (t) => {
  for (const text of ['', ' ', 'null', '"{}"', '17', 'x {}']) {
    const end = jsonEnd()
    t.equal(end(text), -1, text)
    t.equal(end('{}'), text.trim() === '' ? 2 : -1)
  }
})

t.test('beginsValue tells objects and arrays from other texts', async (t) => {
  for (const text of ['{', ' \n[1]', '\t{}']) t.equal(beginsValue(text), true, text)
  for (const text of ['', ' ', '}', 'null', '"{"']) t.equal(beginsValue(text), false, text)
})
