import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'

const all = await commanding(t)
const { erasePersonalData, storeCredential, remember, removeMember, appended, appendedOnce } = all

t.test('everything that one organization has of a provisioned user', async (t) => {
  const { by, provisioned, organizationId } = await all.organization()
  const userId = await provisioned()
  await storeCredential({ userId, name: 'SHOP', value: 'secret' }, by)
  await remember({ userId, text: 'I like tea' }, by)
  const events = await appendedOnce(t, (call) => erasePersonalData({ userId }, call), by)
  t.strictSame(typesOf(events), [
    'MemoriesErased',
    'CredentialsErased',
    'AccountErased',
    'PersonalDataErased',
  ])
  const of = `${organizationId}/${userId}`
  t.match(events.at(-1), {
    stream: `member-${organizationId}_${userId}`,
    data: {
      memories: 1,
      credentials: 1,
      keyIds: [`memory:${of}`, `credentials:${of}`, `user:${userId}`, `member:${of}`],
    },
  })
})

t.test('the account of a person who signed in stays', async (t) => {
  const { by, member } = await all.organization()
  const userId = await member()
  await removeMember({ userId, by: { asOwner: true } }, by)
  const events = await appended(() => erasePersonalData({ userId }, by))
  t.strictSame(typesOf(events), ['PersonalDataErased'])
})

t.test('of a person of whom nothing is stored: nothing', async (t) => {
  const { by } = await all.organization()
  t.strictSame(await appended(() => erasePersonalData({ userId: 'nobody' }, by)), [])
})
