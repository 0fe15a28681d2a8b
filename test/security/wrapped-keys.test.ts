import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { encrypted } from '../../src/security/cipher.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { type Ring, unwrapped, wrappedKeys } from '../../src/security/wrapped-keys.ts'

const name = 'session:org-1/s-1'
const key = Buffer.alloc(32, 9)
const [first, second, third] = [1, 2, 3].map((n) => wrapOf(Buffer.alloc(32, n))) as [
  KeyObject,
  KeyObject,
  KeyObject,
]

/** A store in memory, and a ring that another one takes the place of with each refresh. */
const world = (rings: readonly Ring[], { isFresh = true, isSlow = false } = {}) => {
  const boxes = new Map<string, Uint8Array>()
  let refreshes = 0
  let fresh = isFresh
  const create = (name: string, box: Uint8Array) => {
    const stored = boxes.get(name) ?? box
    boxes.set(name, stored)
    return isSlow ? Promise.resolve(stored) : stored
  }
  const keys = wrappedKeys(
    {
      get: async (name: string) => boxes.get(name),
      create,
      destroy: async (name: string) => void boxes.delete(name),
      rewrap: async (changes: readonly { name: string; to: Uint8Array }[]) => {
        await setImmediate()
        for (const { name, to } of changes) boxes.set(name, to)
      },
    } as unknown as Parameters<typeof wrappedKeys>[0],
    {
      now: () => rings[Math.min(refreshes, rings.length - 1)] ?? { wrap: first },
      isFresh: () => fresh,
      refresh: async () => {
        await setImmediate()
        refreshes++
        fresh = true
      },
    },
  )
  return {
    keys,
    boxes,
    create,
    refreshes: () => refreshes,
    expire: () => {
      fresh = false
    },
  }
}

t.test('a key is opened by the ring’s key, or by its other one', async (t) => {
  const box = encrypted(first, name, key)
  t.strictSame(unwrapped({ wrap: first }, name, box), key)
  t.strictSame(unwrapped({ wrap: second, other: first }, name, box), key)
  t.equal(unwrapped({ wrap: second }, name, box), undefined)
  t.equal(unwrapped({ wrap: first }, 'another name', box), undefined)
})

t.test('a key under a newer master key is opened once the ring is read again', async (t) => {
  const { keys, boxes, refreshes } = world([{ wrap: first }, { wrap: second }])
  boxes.set(name, encrypted(second, name, key))
  t.strictSame(Buffer.from((await keys.get(name)) ?? []), key)
  t.equal(refreshes(), 1)
  t.strictSame(Buffer.from((await keys.get(name)) ?? []), key)
  t.equal(refreshes(), 1, 'the ring is known now')
})

t.test('a key under a key of no ring is refused: WrongMasterKey', async (t) => {
  const { keys, boxes } = world([{ wrap: first }, { wrap: second }])
  boxes.set(name, encrypted(third, name, key))
  await t.rejects(keys.get(name), { name: 'WrongMasterKey' })
})

t.test('a name without a key has none', async (t) => {
  t.equal(await world([{ wrap: first }]).keys.get(name), undefined)
})

for (const isSlow of [false, true])
  t.test(
    `a new key is stored wrapped, ${isSlow ? 'by a slow store' : 'by a store that answers at once'}`,
    async (t) => {
      const { keys, boxes, refreshes } = world([{ wrap: first }], { isSlow })
      const created = keys.create(name, key)
      t.ok(created instanceof Promise, 'whether the store waits or not')
      t.strictSame(Buffer.from(await created), key)
      t.strictSame(unwrapped({ wrap: first }, name, boxes.get(name) ?? key), key)
      t.equal(refreshes(), 0)
    },
  )

t.test('the key that another one stored first holds', async (t) => {
  const { keys, boxes } = world([{ wrap: first }])
  const other = Buffer.alloc(32, 8)
  boxes.set(name, encrypted(first, name, other))
  t.strictSame(Buffer.from(await keys.create(name, key)), other)
})

t.test('with a ring that is not fresh, a key is created after it is read again', async (t) => {
  const { keys, boxes, refreshes } = world([{ wrap: first }, { wrap: second }], { isFresh: false })
  t.strictSame(Buffer.from(await keys.create(name, key)), key)
  t.equal(refreshes(), 1)
  t.strictSame(unwrapped({ wrap: second }, name, boxes.get(name) ?? key), key)
})

t.test('a key that was stored while a rotation began is wrapped under the new key', async (t) => {
  const { keys, boxes, expire } = world([{ wrap: first }, { wrap: second, other: first }], {
    isSlow: true,
  })
  const creating = keys.create(name, key)
  expire()
  t.strictSame(Buffer.from(await creating), key)
  t.strictSame(unwrapped({ wrap: second }, name, boxes.get(name) ?? key), key)
})

t.test('a key that was stored in time stays as it is', async (t) => {
  const { keys, boxes, expire, refreshes } = world([{ wrap: first }], { isSlow: true })
  const creating = keys.create(name, key)
  const box = boxes.get(name)
  expire()
  await creating
  t.equal(refreshes(), 1)
  t.equal(boxes.get(name), box)
})

t.test('a destroyed key is gone', async (t) => {
  const { keys, boxes } = world([{ wrap: first }])
  await keys.create(name, key)
  await keys.destroy(name)
  t.equal(boxes.size, 0)
})
