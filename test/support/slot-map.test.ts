import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import t from 'tap'
import { slotMap } from '../../src/support/slot-map.ts'

t.test('holds what a Map holds', async () => {
  const change = fc.record({ key: fc.nat(6), set: fc.boolean() })
  fc.assert(
    fc.property(fc.array(change), (changes) => {
      const map = new Map<number, { n: number }>()
      const slots = slotMap<number, { n: number }>()
      for (const [n, { key, set }] of changes.entries()) {
        if (set) {
          map.set(key, { n })
          slots.set(key, { n })
        } else {
          map.delete(key)
          slots.delete(key)
        }
      }
      const numbers = (values: Iterable<{ n: number }>) => [...values].map(({ n }) => n).toSorted()
      return (
        map.size === slots.size &&
        [0, 1, 2, 3, 4, 5, 6].every(
          (key) => map.has(key) === slots.has(key) && map.get(key)?.n === slots.get(key)?.n,
        ) &&
        String(numbers(map.values())) === String(numbers(slots.all()))
      )
    }),
  )
})

t.test('deleted entries do not stay in the old generation', async (t) => {
  setFlagsFromString('--expose-gc')
  setFlagsFromString('--no-allocation-site-pretenuring')
  const collect: (options?: { type: 'minor' }) => void = runInNewContext('gc')
  const old = () =>
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
      ?.space_used_size ?? 0

  /** By how much the old generation grows while so many come and go, a few at a time. */
  const grown = (slots: ReturnType<typeof slotMap<string, object>>, count: number): number => {
    collect()
    const before = old()
    for (let n = 0; n < count; n++) {
      slots.set(`${n}`, { text: new Array(100) })
      slots.delete(`${n - 8}`)
      if (n % 1_000 === 0) collect({ type: 'minor' })
    }
    return old() - before
  }

  const count = 100_000
  // In a Map three quarters of it stay, here a tenth: keys.
  t.ok(grown(slotMap(), count) < (count * 800) / 5)
})
