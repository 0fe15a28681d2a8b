import fc from 'fast-check'
import t from 'tap'
import { leafOf, type Stored } from '../../src/transparency/leaf.ts'
import { leafHashOf } from '../../src/transparency/leaf-hash.ts'
import { leafHashText } from '../../src/transparency/merkle.ts'
import { at } from '../support/positions.ts'
import { metadata } from '../support/recorded.ts'

const event: Stored = {
  id: 'event-1',
  stream: 'box-org-1_b-1',
  type: 'BoxOpened',
  revision: 3,
  position: at(17),
  data: { z: 1, a: { $sealed: 'k', box: 'AA==' } },
  metadata,
}

const isSame = (one: Stored) => leafHashOf(one) === leafHashText(leafOf(one))

const texts = fc.oneof(fc.string(), fc.string({ unit: 'binary', maxLength: 300 }))
const values = fc.jsonValue({ depthSize: 'medium', stringUnit: 'binary' })

t.test('a leaf written as bytes has the hash of its text', async () => {
  const stored = fc.record({
    id: texts,
    stream: texts,
    type: fc.constantFrom('BoxOpened', 'BoxClosed', 'Öffnung'),
    revision: fc.nat(),
    position: fc.nat().map(at),
    data: values,
    metadata: fc.constantFrom(metadata, { ...metadata, at: 'later' }, { 'é"': '\\' }, null),
  })
  fc.assert(fc.property(fc.array(stored, { minLength: 1 }), (events) => events.every(isSame)))
})

t.test('whatever its keys and its length are', async (t) => {
  const keys = (count: number, key: (n: number) => string) =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [key(n), n]))
  for (const data of [
    { b: 1, a: 2 },
    { a: 2, b: 1 },
    { b: 1, a: 2, c: [] },
    { 10: 'ten', 9: 'nine', é: '\u2028', 'a"b': '\x7f' },
    JSON.parse('{"__proto__":{"b":1},"a":[[],{},-0,1e-7,1e21]}'),
    keys(65, (n) => `key ${(n * 7) % 65}`),
    keys(3, (n) => `${n}`.repeat(1_000)),
    '\ud800',
    'é'.repeat(30_000),
    'x'.repeat(65_000),
    'x'.repeat(70_000),
    Array.from({ length: 40_000 }, () => 0),
  ]) {
    t.ok(isSame({ ...event, data }))
    t.ok(isSame(event), 'and the next one')
    t.ok(isSame({ ...event, data, metadata: { of: data } }), 'as metadata too')
    t.ok(isSame({ ...event, data: 1, metadata: { of: data } }))
  }
  const room = 65_535 - leafOf({ ...event, data: '' }).length
  for (const length of [room - 1, room, room + 1])
    t.ok(isSame({ ...event, data: 'x'.repeat(length) }), `${length - room} from the longest`)
})
