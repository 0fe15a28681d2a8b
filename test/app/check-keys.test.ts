import t from 'tap'
import { checkKeys, isEmptyStore } from '../../src/app/check-keys.ts'
import { START } from '../../src/ports/event-store.ts'
import { wrapOf } from '../../src/security/secrets.ts'
import { vault } from '../../src/security/vault.ts'
import { type Commanded, commanded } from '../support/commanded.ts'
import { fixedKeys } from '../support/fixed-keys.ts'
import { platformCall } from '../support/recorded.ts'

const check = (all: Commanded, uses: Partial<Parameters<typeof checkKeys>[0]> = {}) =>
  checkKeys({
    events: all.store,
    keys: all.keys,
    vault: all.vault,
    registerKeys: all.registerKeys,
    clock: all.clock,
    ...uses,
  })

const organization = { name: 'Acme', owner: { email: 'owner@example.com' } }

t.test('an empty store registers its keys once, and still counts as empty', async (t) => {
  const all = await commanded(t)
  t.ok(await isEmptyStore(all.store))
  await check(all)
  const head = await all.store.head()
  t.ok(head > START)
  t.ok(await isEmptyStore(all.store))
  await check(all)
  t.equal(await all.store.head(), head)
  await all.createOrganization(organization, platformCall)
  t.notOk(await isEmptyStore(all.store))
})

t.test('a store from before keys were registered registers those it has', async (t) => {
  const all = await commanded(t)
  await all.createOrganization(organization, platformCall)
  await check(all)
  await check(all)
  t.notOk(await isEmptyStore(all.store))
})

t.test('another master key', async (t) => {
  const all = await commanded(t)
  await check(all)
  const wrap = wrapOf(Buffer.alloc(32, 8))
  const other = vault({ keys: fixedKeys(all.keys, wrap) })
  await t.rejects(check(all, { vault: other }), { name: 'WrongMasterKey' })
})

t.test('another master key on a store from before keys were registered', async (t) => {
  const all = await commanded(t)
  await all.createOrganization(organization, platformCall)
  const head = await all.store.head()
  const wrap = wrapOf(Buffer.alloc(32, 8))
  const other = vault({ keys: fixedKeys(all.keys, wrap) })
  await t.rejects(check(all, { vault: other }), { name: 'WrongMasterKey' })
  t.equal(await all.store.head(), head, 'nothing is registered')
})

t.test('no keys where events are', async (t) => {
  const all = await commanded(t)
  const empty = await commanded(t)
  await check(all)
  const uses = { keys: empty.keys, vault: empty.vault }
  await t.rejects(check(all, uses), { name: 'KeysMismatch', message: /no keys/ })
  t.equal(await empty.keys.some(), undefined, 'none is made')
})

t.test('the keys of another installation', async (t) => {
  const all = await commanded(t)
  const other = await commanded(t)
  await check(all)
  await check(other)
  const uses = { keys: other.keys, vault: other.vault }
  await t.rejects(check(all, uses), { name: 'KeysMismatch', message: /another installation/ })
})
