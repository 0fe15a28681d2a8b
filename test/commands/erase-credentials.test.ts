import t from 'tap'
import { storeCredential as storeCredentialOver } from '../../commands/store-credential.ts'
import { credentialsKey } from '../../src/security/vault.ts'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { eraseCredentials, storeCredential, vault, load, transact, appended, appendedOnce } =
  await commanding(t)
const credential = { name: 'SHOP', value: 'secret' }

t.test('the key is destroyed, and the event says which', async (t) => {
  await storeCredential({ userId: 'user-1', ...credential }, call)
  const events = await appendedOnce(t, (by) => eraseCredentials({ userId: 'user-1' }, by), call)
  t.match(events, [
    {
      type: 'CredentialsErased',
      stream: 'credentials-org-1_user-1',
      data: { credentials: 1, keyIds: [credentialsKey('org-1', 'user-1')] },
    },
  ])
})

t.test('a value whose key is destroyed before it is stored is sealed under the next', async (t) => {
  const command = { userId: 'user-2', ...credential }
  await storeCredential(command, call)
  let isFirst = true
  const interrupted = storeCredentialOver({
    load,
    transact,
    async seal(name, text) {
      const value = await vault.seal(name, text)
      if (isFirst) await eraseCredentials({ userId: 'user-2' }, call)
      isFirst = false
      return value
    },
  })
  const events = await appended(() => interrupted(command, call))
  t.match(events, [
    { type: 'CredentialsErased' },
    {
      type: 'CredentialStored',
      data: { value: { $sealed: credentialsKey('org-1', 'user-2', 1) } },
    },
  ])
})

t.test('nothing where nothing was stored', async (t) => {
  const events = await appended(() => eraseCredentials({ userId: 'user-3' }, call))
  t.strictSame(events, [])
})
