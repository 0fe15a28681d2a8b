import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedKeyStore } from '../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../src/adapters/embedded/log.ts'
import { freshMs, openMasterKeys, readSecret } from '../../src/security/master-keys.ts'
import { secretFrom, wrapOf } from '../../src/security/secrets.ts'
import { vault } from '../../src/security/vault.ts'
import { wrappedKeys } from '../../src/security/wrapped-keys.ts'
import { fixedKeys } from '../support/fixed-keys.ts'

const [old, next, wrong] = [1, 2, 3].map((n) => Buffer.alloc(32, n)) as [Buffer, Buffer, Buffer]
const name = 'session:org-1/s-1'

const keyStore = async (t: Test) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  t.teardown(() => log.close())
  return embeddedKeyStore(log)
}
type Keys = Awaited<ReturnType<typeof keyStore>>

const opened = (
  keys: Keys,
  given: Buffer,
  more: Partial<Parameters<typeof openMasterKeys>[0]> = {},
) => openMasterKeys({ keys, given, isNew: false, shared: false, ...more })

t.test('a new installation has a secret of its own, which a start finds again', async (t) => {
  const keys = await keyStore(t)
  const { secret } = await opened(keys, old, { isNew: true })
  t.equal(secret.length, 32)
  t.notSame(secret, secretFrom(old))
  t.same((await opened(keys, old)).secret, secret)
  t.same(await readSecret(keys, old), secret)
  await t.rejects(opened(keys, wrong), { name: 'WrongMasterKey', message: /MASTER_KEY/ })
  await t.rejects(readSecret(keys, wrong), { name: 'WrongMasterKey' })
})

t.test('an installation from before keeps what its master key was', async (t) => {
  const keys = await keyStore(t)
  const box = await vault({ keys: fixedKeys(keys, wrapOf(old)) }).seal(name, 'Hello')
  t.same(await readSecret(keys, old), secretFrom(old))
  await t.rejects(opened(keys, wrong), { name: 'WrongMasterKey' })
  t.equal(await keys.record(), undefined, 'nothing is stored by a start that is refused')
  const { secret, rings } = await opened(keys, old)
  t.same(secret, secretFrom(old))
  t.equal(await vault({ keys: wrappedKeys(keys, rings) }).open(box), 'Hello')
})

t.test('events without keys: nothing is stored', async (t) => {
  const keys = await keyStore(t)
  await opened(keys, old)
  t.equal(await keys.record(), undefined)
})

t.test('of several first starts at once, all have the same secret', async (t) => {
  const keys = await keyStore(t)
  const all = await Promise.all([1, 2, 3].map(() => opened(keys, old, { isNew: true })))
  for (const { secret } of all) t.same(secret, all[0]?.secret)
})

t.test('while a key is replaced, a start with either opens everything', async (t) => {
  const keys = await keyStore(t)
  const first = await opened(keys, old, { isNew: true })
  const box = await vault({ keys: wrappedKeys(keys, first.rings) }).seal(name, 'Hello')
  t.ok(await first.begin(next))
  for (const given of [old, next]) {
    const { secret, rings, accepted } = await opened(keys, given)
    t.same(secret, first.secret)
    t.match(accepted(), { master: next, previous: old })
    const { open, seal } = vault({ keys: wrappedKeys(keys, rings) })
    t.equal(await open(box), 'Hello')
    const later = await seal(`session:org-1/${given[0]}`, 'Later')
    t.equal(await vault({ keys: fixedKeys(keys, wrapOf(next)) }).open(later), 'Later')
  }
  await t.rejects(opened(keys, wrong), { name: 'WrongMasterKey' })
})

t.test('afterwards the new key alone opens, the old one nothing', async (t) => {
  const keys = await keyStore(t)
  const { begin: beginRotation, finish, secret } = await opened(keys, old, { isNew: true })
  await beginRotation(next)
  t.ok(await finish())
  await t.rejects(opened(keys, old), { name: 'WrongMasterKey', message: /MASTER_KEY/ })
  const after = await opened(keys, next)
  t.same(after.secret, secret, 'hashes and links stay valid')
  t.same(after.accepted(), { secret, master: next })
})

t.test(
  'another process: learns of the new key, and wraps with it before the old one ends',
  async (t) => {
    const keys = await keyStore(t)
    const clock = { now: 0 }
    const shared = { shared: true, clock: { now: () => new Date(0), monotonic: () => clock.now } }
    const first = await opened(keys, old, { isNew: true, ...shared })
    const second = await opened(keys, old, shared)
    const { seal, open } = vault({ keys: wrappedKeys(keys, second.rings) })
    const isOpenedBy = async (given: Buffer, key: string) =>
      (await fixedKeys(keys, wrapOf(given))
        .get(key)
        .catch(() => undefined)) !== undefined

    await first.begin(next)
    t.ok(second.rings.isFresh())
    await seal('session:org-1/soon', 'x')
    t.ok(await isOpenedBy(old, 'session:org-1/soon'), 'it may still use the old one')
    clock.now += freshMs
    await seal('session:org-1/later', 'x')
    t.ok(await isOpenedBy(next, 'session:org-1/later'), 'it has looked again')

    const three = vault({ keys: wrappedKeys(keys, first.rings) })
    const box = await three.seal('session:org-1/third', 'Third')
    t.equal(await open(box), 'Third')
    t.notOk(
      await first.begin(wrong).then((held) => held && second.begin(wrong)),
      'one of two begins',
    )
  },
)

t.test('a key that took long to store is under the new master key before it is used', async (t) => {
  const keys = await keyStore(t)
  const clock = { now: 0 }
  const shared = { shared: true, clock: { now: () => new Date(0), monotonic: () => clock.now } }
  const first = await opened(keys, old, { isNew: true, ...shared })
  const second = await opened(keys, old, shared)
  const slow: Keys = {
    ...keys,
    async create(...given) {
      await first.begin(next)
      const stored = await keys.create(...given)
      clock.now += freshMs
      return stored
    },
  }
  const box = await vault({ keys: wrappedKeys(slow, second.rings) }).seal(name, 'Hello')
  t.equal(await vault({ keys: fixedKeys(keys, wrapOf(next)) }).open(box), 'Hello')
})

t.test('a process that only opens finds the new key when it meets one', async (t) => {
  const keys = await keyStore(t)
  const first = await opened(keys, old, { isNew: true, shared: true })
  const second = await opened(keys, old, { shared: true })
  await first.begin(next)
  const box = await vault({ keys: wrappedKeys(keys, first.rings) }).seal(name, 'Hello')
  t.equal(await vault({ keys: wrappedKeys(keys, second.rings) }).open(box), 'Hello')
})
