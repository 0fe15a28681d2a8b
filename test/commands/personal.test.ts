import t, { type Test } from 'tap'
import { findCredential } from '../../queries/find-credential.ts'
import { listCredentials } from '../../queries/list-credentials.ts'
import { recallMemories } from '../../queries/recall-memories.ts'
import { START } from '../../src/ports/event-store.ts'
import { credentialsKey, memoryKey } from '../../src/security/vault.ts'
import { commanded } from '../support/commanded.ts'
import { gathered } from '../support/noted.ts'
import { call } from '../support/recorded.ts'

const elsewhere = { ...call, organizationId: 'org-2' }

const remembering = async (t: Test) => {
  const host = await commanded(t)
  const recall = recallMemories({ ...host.read, open: host.vault.open })
  return {
    ...host,
    recall: (query: string, more = {}) =>
      recall({ organizationId: 'org-1', userId: 'user-1', query, limit: 3, ...more }),
  }
}

t.test('what suits best is recalled first, then the newest', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  for (const text of ['My dog is called Rex', 'I like tea', 'I live in Lyon', 'I am left-handed'])
    await remember({ userId: 'user-1', text }, call)
  await seen()
  t.strictSame(await recall('name of the dog'), [
    'My dog is called Rex',
    'I am left-handed',
    'I live in Lyon',
  ])
  t.strictSame(await recall(''), ['I am left-handed', 'I live in Lyon', 'I like tea'])
})

t.test('the same is remembered once', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  t.match(await remember({ userId: 'user-1', text: 'I like tea' }, call), { stored: true })
  t.match(await remember({ userId: 'user-1', text: ' I  like TEA ' }, call), { stored: false })
  await seen()
  t.strictSame(await recall('tea'), ['I like tea'])
})

t.test('memories are of one user in one organization', async (t) => {
  const { remember, recall, seen } = await remembering(t)
  await remember({ userId: 'user-1', text: 'tea in one' }, call)
  await remember({ userId: 'user-2', text: 'tea of another' }, call)
  await remember({ userId: 'user-1', text: 'tea elsewhere' }, elsewhere)
  await seen()
  t.strictSame(await recall('tea'), ['tea in one'])
  t.strictSame(await recall('tea', { userId: 'user-2' }), ['tea of another'])
  t.strictSame(await recall('tea', { organizationId: 'org-2' }), ['tea elsewhere'])
  t.strictSame(await recall('tea', { organizationId: 'org-3' }), [])
})

t.test('an erased memory is gone, and only that', async (t) => {
  const { remember, recall, seen, vault } = await remembering(t)
  await remember({ userId: 'user-1', text: 'tea in one' }, call)
  await remember({ userId: 'user-1', text: 'tea elsewhere' }, elsewhere)
  await seen()
  await vault.destroy(memoryKey('org-1', 'user-1'))
  t.strictSame(await recall('tea'), [])
  t.strictSame(await recall('tea', { organizationId: 'org-2' }), ['tea elsewhere'])
  await t.rejects(remember({ userId: 'user-1', text: 'more' }, call), { name: 'KeyDestroyed' })
})

t.test('credentials are stored sealed, listed by name and opened for tools', async (t) => {
  const host = await commanded(t)
  const { storeCredential, deleteCredential, seen, vault } = host
  const find = findCredential({ ...host.read, open: vault.open })
  const list = listCredentials(host.read.credentials)
  const store = (name: string, value: string, by = call) =>
    storeCredential({ userId: 'user-1', name, value }, by)

  t.match(await store('TOKEN', 'first-secret'), { name: 'TOKEN', created: true })
  t.match(await store('ANOTHER', 'other-secret'), { created: true })
  t.match(await store('TOKEN', 'second-secret'), { created: false })
  await store('TOKEN', 'foreign-secret', elsewhere)
  await seen()
  t.equal(await find('org-1', 'user-1', 'TOKEN'), 'second-secret')
  t.equal(await find('org-2', 'user-1', 'TOKEN'), 'foreign-secret')
  t.equal(await find('org-1', 'user-2', 'TOKEN'), undefined)
  const listed = await list('org-1', 'user-1')
  t.match(listed, { total: 2, credentials: [{ name: 'ANOTHER' }, { name: 'TOKEN' }] })
  for (const one of listed.credentials)
    t.strictSame(Object.keys(one), ['name', 'created_at', 'updated_at'])
  const log = JSON.stringify(await gathered(host.store.history(START)))
  for (const secret of ['first', 'second', 'other', 'foreign'])
    t.notOk(log.includes(`${secret}-secret`), `${secret} is not in the log`)

  await deleteCredential({ userId: 'user-1', name: 'ANOTHER' }, call)
  await seen()
  t.match(await list('org-1', 'user-1'), { total: 1 })
  await t.rejects(deleteCredential({ userId: 'user-1', name: 'ANOTHER' }, call), {
    code: 'credential_not_found',
  })
  await vault.destroy(credentialsKey('org-1', 'user-1'))
  t.equal(await find('org-1', 'user-1', 'TOKEN'), undefined)
})

t.test('a credential fits into a header', async (t) => {
  const { storeCredential } = await commanded(t)
  for (const value of ['', ' x', 'x ', 'a\r\nX-Other: b', 'é', 'x'.repeat(8_193)])
    await t.rejects(storeCredential({ userId: 'user-1', name: 'TOKEN', value }, call), {
      code: 'invalid_input',
    })
  await t.resolves(storeCredential({ userId: 'u', name: 'TOKEN', value: 'x y' }, call))
})
