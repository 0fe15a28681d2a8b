import t from 'tap'
import { findCredential } from '../../queries/find-credential.ts'
import { listCredentials } from '../../queries/list-credentials.ts'
import { consentedHosts } from '../../src/event-sourcing/consented-hosts.ts'
import { START } from '../../src/ports/event-store.ts'
import { credentialsKey } from '../../src/security/vault.ts'
import { commanded } from '../support/commanded.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { gathered } from '../support/noted.ts'
import { call } from '../support/recorded.ts'

const { storeCredential, appended } = await commanding(t)
const elsewhere = { ...call, organizationId: 'org-2' }

t.test('a value is stored, another put in its place', async (t) => {
  const command = { userId: 'user-2', name: 'TOKEN', value: 'a secret' }
  const store = () => appended(() => storeCredential(command, call))
  const stored = await store()
  t.match(stored, [
    { type: 'CredentialStored', data: { name: 'TOKEN' }, stream: 'credentials-org-1_user-2' },
  ])
  t.notMatch(JSON.stringify(stored), /a secret/)
  t.strictSame(typesOf(await store()), ['CredentialRotated'])
  const bad = { ...command, name: 'token' }
  const events = await appended(() =>
    t.rejects(storeCredential(bad, call), { code: 'invalid_input', facts: { field: 'name' } }),
  )
  t.strictSame(events, [])
})

t.test('credentials are stored sealed, listed by name and opened for tools', async (t) => {
  const host = await commanded(t)
  const { storeCredential, deleteCredential, seen, vault } = host
  const hostsOf = consentedHosts(host.store.read)
  const findWithHosts = findCredential({ ...host.read, hostsOf, open: vault.open })
  const find = async (...args: Parameters<typeof findWithHosts>) =>
    (await findWithHosts(...args))?.value
  const list = listCredentials({ credentials: host.read.credentials })
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
  for (const credential of listed.credentials)
    t.strictSame(Object.keys(credential), ['name', 'created_at', 'updated_at'])
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
  for (const value of ['', ' x', 'x ', 'a\r\nX-Other: b', 'é', 'x'.repeat(8_193)])
    await t.rejects(storeCredential({ userId: 'user-1', name: 'TOKEN', value }, call), {
      code: 'invalid_input',
    })
  await t.resolves(storeCredential({ userId: 'u', name: 'TOKEN', value: 'x y' }, call))
})
