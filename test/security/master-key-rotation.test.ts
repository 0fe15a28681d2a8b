import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedKeyStore } from '../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import type { WrappedKey } from '../../src/ports/keys.ts'
import { silent } from '../../src/ports/log.ts'
import { masterKeyRotation } from '../../src/security/master-key-rotation.ts'
import { openMasterKeys } from '../../src/security/master-keys.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { vault } from '../../src/security/vault.ts'
import { wrappedKeys } from '../../src/security/wrapped-keys.ts'
import { eventually } from '../support/eventually.ts'
import { fixedKeys } from '../support/fixed-keys.ts'

const [old, next, other] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer]
const many = 1_000
const nameOf = (n: number) => `session:org-1/s-${n}`

/** A store with many keys under the old master key. */
const scene = async (t: Test) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  t.teardown(() => log.close())
  const keys = embeddedKeyStore(log)
  const open = (given: Uint8Array, isNew = false) =>
    openMasterKeys({ keys, given, isNew, shared: false })
  const { rings } = await open(old, true)
  const { seal } = vault({ keys: wrappedKeys(keys, rings) })
  const boxes = await Promise.all(Array.from({ length: many }, (_, n) => seal(nameOf(n), `${n}`)))
  const opens = async (master: Buffer) => {
    const under = vault({ keys: fixedKeys(keys, wrapOf(master)) })
    const texts = await Promise.all(
      boxes.map(async (box) => under.open(box)).map((text) => text.catch(() => undefined)),
    )
    return texts.filter((text, n) => text === `${n}`).length
  }
  /** One life of a process that is started with this key. */
  const life = async (
    configured: Uint8Array,
    more: Partial<Parameters<typeof masterKeyRotation>[0]> = {},
  ) => {
    const master = await open(configured)
    const rotation = masterKeyRotation({ master, keys, configured, log: silent, ...more })
    t.teardown(rotation.close)
    const awaitEnd = () =>
      eventually(async () => {
        const status = await rotation.status()
        return status.state === 'rewrapping' ? undefined : status
      })
    return { ...rotation, ended: awaitEnd }
  }
  return { keys, open, opens, life }
}

t.test(
  'a key that the operator keeps: rewrapped, then finished after a start with it',
  async (t) => {
    const { open, opens, life } = await scene(t)
    const first = await life(old)
    t.match(await first.status(), { state: 'none' })
    await t.rejects(first.rotate(), { code: 'new_master_key_required' })
    t.match(await first.rotate(next), { state: 'rewrapping' })
    t.match(await first.rotate(next), { state: 'rewrapping' }, 'asked for again, it goes on')
    await t.rejects(first.rotate(other), { code: 'rotation_under_way' })
    t.same(await first.ended(), { state: 'rewrapped', rewrapped: many })
    t.equal(await opens(next), many)
    t.equal(await opens(old), 0)
    await open(old)
    await first.rotate(next)
    t.match(await first.ended(), { state: 'rewrapped', rewrapped: 0 }, 'not before a start with it')

    const second = await life(next)
    t.match(await second.status(), { state: 'interrupted' })
    await second.rotate(next)
    t.match(await second.ended(), { state: 'none' })
    await t.rejects(open(old), { name: 'WrongMasterKey' })
    t.same(await second.rotate(next), { state: 'none', rewrapped: 0 }, 'done is done')
    t.match(await first.status().catch((error: Error) => error), { state: 'none' })
  },
)

t.test('a key that the server keeps: it makes and stores the new one', async (t) => {
  const { open, opens, life } = await scene(t)
  const stored: Uint8Array[] = []
  const rotation = await life(old, {
    configure: async (key) => {
      stored.push(key)
    },
  })
  await rotation.rotate()
  t.match(await rotation.ended(), { state: 'none', rewrapped: many })
  t.equal(stored.length, 1)
  const [current = old] = stored
  t.equal(await opens(Buffer.from(current)), many)
  await open(current)
  await t.rejects(open(old), { name: 'WrongMasterKey' })
  await rotation.rotate(next)
  t.match(await rotation.ended(), { state: 'none', rewrapped: many }, 'and once more')
  t.equal(await opens(next), many)
})

t.test('cut off after any piece, it is finished by the next life', async (t) => {
  for (let pieces = 0; pieces <= 4; pieces++) {
    const { keys, open, opens, life } = await scene(t)
    let left = pieces
    const failing = {
      ...keys,
      async rewrap(changes: Parameters<typeof keys.rewrap>[0]) {
        if (left-- === 0) throw new Error('cut off')
        await keys.rewrap(changes)
      },
    }
    const first = await life(old, { keys: failing })
    await first.rotate(next)
    const { state, error } = await first.ended()
    t.equal(state, pieces < 4 ? 'interrupted' : 'rewrapped')
    t.equal(error, pieces < 4 ? 'cut off' : undefined)
    await open(old)
    const second = await life(next)
    await second.rotate()
    t.match(await second.ended(), { state: 'none', rewrapped: many - 250 * pieces })
    t.equal(await opens(next), many)
    await t.rejects(open(old), { name: 'WrongMasterKey' })
  }
})

t.test(
  'the new key could not be stored: both are accepted, and it goes on when asked',
  async (t) => {
    const { open, life } = await scene(t)
    let full = true
    const rotation = await life(old, {
      configure: async () => {
        if (full) throw new Error('ENOSPC')
      },
    })
    await rotation.rotate()
    t.match(await rotation.ended(), { state: 'interrupted', error: 'ENOSPC' })
    await open(old)
    full = false
    await rotation.rotate()
    t.match(await rotation.ended(), { state: 'none', rewrapped: 0 })
  },
)

t.test('keys destroyed and made meanwhile', async (t) => {
  const { keys, life, open } = await scene(t)
  let first = true
  const busy = {
    ...keys,
    async list(after: string | undefined, limit: number): Promise<readonly WrappedKey[]> {
      const piece = await keys.list(after, limit)
      const [item] = piece
      if (item && first) await keys.destroy(item.name)
      first = false
      return piece
    },
  }
  const rotation = await life(old, { keys: busy })
  await rotation.rotate(next)
  t.match(await rotation.ended(), { state: 'rewrapped' })
  const { rings } = await open(old)
  const all = await Promise.all(
    Array.from({ length: many }, (_, n) => wrappedKeys(keys, rings).get(nameOf(n))),
  )
  t.equal(all.filter(Boolean).length, many - 1, 'what was destroyed stays so')
})

t.test('close stops it between two pieces', async (t) => {
  const { keys, life, opens } = await scene(t)
  const rotation = await life(old)
  await rotation.rotate(next)
  await rotation.close()
  t.equal((await opens(old)) + (await opens(next)), many)
  t.match(await rotation.status(), { state: 'interrupted' })
  t.ok(await keys.record())
})
