import t from 'tap'
import { commanding } from '../support/commanding.ts'
import { call } from '../support/recorded.ts'

const { deleteCredential, storeCredential, appendedOnce } = await commanding(t)
const token = { userId: 'user-1', name: 'TOKEN' }

t.test('a credential is gone', async (t) => {
  await storeCredential({ ...token, value: 'secret' }, call)
  const events = await appendedOnce(t, (by) => deleteCredential(token, by), call)
  const stream = 'credentials-org-1_user-1'
  t.strictSame(events, [{ type: 'CredentialDeleted', data: { name: 'TOKEN' }, stream }])
})

t.test('one that there is not is refused', async (t) => {
  await t.rejects(deleteCredential(token, call), { code: 'credential_not_found' })
  const elsewhere = { ...call, organizationId: 'org-2' }
  await storeCredential({ ...token, value: 'secret' }, call)
  await t.rejects(deleteCredential(token, elsewhere), { code: 'credential_not_found' })
})
