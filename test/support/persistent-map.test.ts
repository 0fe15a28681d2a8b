import fc from 'fast-check'
import t from 'tap'
import {
  emptyMap,
  isEmptyMap,
  keysOf,
  type PersistentMap,
  valueIn,
  valuesOf,
  withEntry,
  withoutKey,
} from '../../src/support/persistent-map.ts'

const keys = Array.from({ length: 120 }, (_, n) => `key-${n}`).concat('', 'toString', '__proto__')

const changes = fc.array(
  fc.record({
    key: fc.constantFrom(...keys),
    value: fc.option(fc.nat(1_000), { nil: undefined, freq: 8 }),
  }),
  { maxLength: 300, size: 'max' },
)

t.test(
  'a persistent map has the entries of a Map, also after JSON, and never changes',
  async (t) => {
    fc.assert(
      fc.property(changes, (all) => {
        const expected = new Map<string, number>()
        let map: PersistentMap<number> = emptyMap
        for (const { key, value } of all) {
          const before = map
          const text = JSON.stringify(before)
          map = value === undefined ? withoutKey(map, key) : withEntry(map, key, value)
          if (value === undefined) expected.delete(key)
          else expected.set(key, value)
          if (JSON.stringify(before) !== text) return false
        }
        const stored: PersistentMap<number> = JSON.parse(JSON.stringify(map))
        return [map, stored].every(
          (variant) =>
            isEmptyMap(variant) === (expected.size === 0) &&
            keysOf(variant).toSorted().join() === [...expected.keys()].toSorted().join() &&
            valuesOf(variant).toSorted().join() === [...expected.values()].toSorted().join() &&
            keys.every((key) => valueIn(variant, key) === expected.get(key)),
        )
      }),
    )
    t.pass()
  },
)

t.test('a change of ten thousand entries copies one small part', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, n) => `key-${n}`)
  const map = many.reduce<PersistentMap<number>>((sum, key) => withEntry(sum, key, 1), emptyMap)
  const more = withEntry(map, 'another', 1)
  const less = withoutKey(more, 'key-7')
  if (!('parts' in map && 'parts' in more && 'parts' in less)) return t.fail('it is not in parts')
  const copied = (to: typeof map, from: typeof map) =>
    Object.entries(to.parts).filter(([place, part]) => part !== from.parts[place])
  t.equal(copied(more, map).length, 1)
  t.equal(copied(less, more).length, 1)
  t.ok(Object.keys(copied(more, map)[0]?.[1] ?? {}).length < 200)
})

t.test('a map without its last entry is the empty map', async (t) => {
  const keys = Array.from({ length: 100 }, (_, n) => `key-${n}`)
  const map = keys.reduce<PersistentMap<number>>((sum, key) => withEntry(sum, key, 1), emptyMap)
  t.equal(keys.reduce<PersistentMap<number>>(withoutKey, map), emptyMap)
  t.equal(withoutKey(withEntry(emptyMap, 'one', 1), 'one'), emptyMap)
})
