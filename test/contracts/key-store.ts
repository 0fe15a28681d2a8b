import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { KeyDestroyed, type KeyRecords, type KeyStore } from '../../src/ports/keys.ts'

/** `reopen` closes the store and opens the same data again, where an adapter can. */
type Keys = KeyStore & KeyRecords
type OpenKeys = (t: Test) => Promise<{ keys: Keys; reopen?: () => Promise<Keys> }>

const bytes = (seed: number) => Uint8Array.from({ length: 256 }, (_, n) => (n + seed) % 256)
const nameOf = () => `org-1/${randomUUID()}`

/**
 * The contract of every key store. The store may be shared and not empty. `ifCompared`: options of
 * the tests in which a server must compare and write in one step.
 */
export const keyStoreContract = (
  t: Test,
  open: OpenKeys,
  ifCompared: { skip?: string } = {},
): void => {
  t.test('a key is there as soon as it is created', async (t) => {
    const { keys } = await open(t)
    const [name, other] = [nameOf(), nameOf()]
    t.equal(await keys.get(name), undefined)
    const given = bytes(1)
    t.strictSame([...(await keys.create(name, given))], [...bytes(1)])
    given.fill(0)
    t.strictSame([...((await keys.get(name)) ?? [])], [...bytes(1)], 'as it was when created')
    await keys.create(other, bytes(2))
    t.strictSame([...((await keys.get(name)) ?? [])], [...bytes(1)])
    t.strictSame([...((await keys.get(other)) ?? [])], [...bytes(2)])
  })

  t.test('some name has a key once one is created', async (t) => {
    const { keys } = await open(t)
    await keys.create(nameOf(), bytes(1))
    const name = await keys.some()
    t.ok(name !== undefined && (await keys.get(name)))
  })

  t.test('the first key of a name holds', async (t) => {
    const { keys } = await open(t)
    const name = nameOf()
    const created = await Promise.all(
      Array.from({ length: 10 }, (_, n) => keys.create(name, bytes(n))),
    )
    const held = await keys.get(name)
    for (const key of created) t.strictSame([...key], [...(held ?? [])])
    t.strictSame([...(await keys.create(name, bytes(99)))], [...(held ?? [])])
  })

  t.test('a destroyed key is gone and its name burnt', async (t) => {
    const { keys, reopen } = await open(t)
    const [name, other] = [nameOf(), nameOf()]
    await keys.create(name, bytes(1))
    await keys.create(other, bytes(2))
    await keys.destroy(name)
    await keys.destroy(name)
    const after = reopen ? await reopen() : keys
    t.equal(await after.get(name), undefined)
    await t.rejects(async () => after.create(name, bytes(3)), KeyDestroyed)
    t.strictSame([...((await after.get(other)) ?? [])], [...bytes(2)])
  })

  /** All that is listed, in pieces, each of the names once. */
  const listed = async (keys: Keys, limit: number) => {
    const all = new Map<string, Uint8Array | undefined>()
    let after: string | undefined
    for (;;) {
      const piece = await keys.list(after, limit)
      t.ok(piece.length <= limit)
      for (const { name, wrapped } of piece) {
        t.notOk(all.has(name), `${name} comes once`)
        all.set(name, wrapped)
      }
      after = piece.at(-1)?.name
      if (after === undefined) return all
    }
  }

  t.test('keys are listed in pieces, destroyed ones without what was in them', async (t) => {
    const { keys } = await open(t)
    const names = Array.from({ length: 23 }, nameOf)
    for (const [n, name] of names.entries()) await keys.create(name, bytes(n))
    const [destroyed = ''] = names
    await keys.destroy(destroyed)
    const before = await keys.record()
    t.ok(await keys.replaceRecord(before, bytes(50)))
    const all = await listed(keys, 5)
    t.equal(all.get(destroyed), undefined)
    for (const [n, name] of names.entries())
      if (name !== destroyed) t.strictSame([...(all.get(name) ?? [])], [...bytes(n)])
  })

  t.test('a key is stored in another form, unless it changed meanwhile', async (t) => {
    const { keys, reopen } = await open(t)
    const [current, destroyed, changed, missing] = [nameOf(), nameOf(), nameOf(), nameOf()]
    for (const name of [current, destroyed, changed]) await keys.create(name, bytes(1))
    await keys.destroy(destroyed)
    const changes = [current, destroyed, missing].map((name) => ({
      name,
      from: bytes(1),
      to: bytes(2),
    }))
    await keys.rewrap([...changes, { name: changed, from: bytes(7), to: bytes(2) }])
    await keys.rewrap([])
    const after = reopen ? await reopen() : keys
    t.strictSame([...((await after.get(current)) ?? [])], [...bytes(2)])
    t.strictSame([...((await after.get(changed)) ?? [])], [...bytes(1)])
    t.equal(await after.get(destroyed), undefined)
    t.equal(await after.get(missing), undefined)
    await t.rejects(async () => after.create(destroyed, bytes(3)), KeyDestroyed)
  })

  t.test('a key that is destroyed while it is rewrapped stays destroyed', ifCompared, async (t) => {
    const { keys } = await open(t)
    const names = Array.from({ length: 20 }, nameOf)
    for (const name of names) await keys.create(name, bytes(1))
    await Promise.all(
      names.flatMap((name, n) => {
        const rewrap = () => keys.rewrap([{ name, from: bytes(1), to: bytes(2) }])
        const destroy = () => keys.destroy(name)
        return n % 2 ? [rewrap(), destroy()] : [destroy(), rewrap()]
      }),
    )
    for (const name of names) t.equal(await keys.get(name), undefined)
  })

  t.test('the record is replaced by one of many at once', async (t) => {
    const { keys, reopen } = await open(t)
    const before = await keys.record()
    const tried = await Promise.all([1, 2, 3, 4].map((n) => keys.replaceRecord(before, bytes(n))))
    t.equal(tried.filter(Boolean).length, 1)
    const held = bytes(tried.indexOf(true) + 1)
    const after = reopen ? await reopen() : keys
    t.strictSame([...((await after.record()) ?? [])], [...held])
    t.notOk(await after.replaceRecord(undefined, bytes(9)))
    t.notOk(await after.replaceRecord(bytes(9), bytes(8)))
    t.ok(await after.replaceRecord(held, bytes(9)))
  })
}
