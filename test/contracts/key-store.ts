import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { KeyDestroyed, type KeyStore } from '../../src/ports/keys.ts'

/** `reopen` closes the store and opens the same data again, where an adapter can. */
type OpenKeys = (t: Test) => Promise<{ keys: KeyStore; reopen?: () => Promise<KeyStore> }>

const bytes = (seed: number) => Uint8Array.from({ length: 256 }, (_, n) => (n + seed) % 256)
const nameOf = () => `org-1/${randomUUID()}`

/** What every key store owes its callers. The store may be shared and not empty. */
export const keyStoreContract = (t: Test, open: OpenKeys): void => {
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
    await t.rejects(after.create(name, bytes(3)), KeyDestroyed)
    t.strictSame([...((await after.get(other)) ?? [])], [...bytes(2)])
  })
}
