import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'

const { addMember, removeMember, changeMember, appended, appendedOnce, organization } =
  await commanding(t)
const asOwner = { asOwner: true }
const asAdmin = { asOwner: false }

t.test('a member', async (t) => {
  const { by, organizationId, member } = await organization()
  const userId = await member()
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asAdmin }, call), by)
  const stream = `member-${organizationId}_${userId}`
  t.strictSame(events, [{ type: 'MemberRemoved', data: {}, stream }])
})

t.test('one who has not signed in is no longer invited', async (t) => {
  const { by } = await organization()
  const { userId } = await addMember({ email: 'ann@example.com', role: 'MEMBER' }, by)
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asAdmin }, call), by)
  t.strictSame(typesOf(events), ['MemberRemoved', 'InvitationsSettled'])
})

t.test('an owner stops counting first', async (t) => {
  const { by, member } = await organization()
  const userId = await member()
  await changeMember({ userId, role: 'OWNER', by: asOwner }, by)
  const events = await appendedOnce(t, (call) => removeMember({ userId, by: asOwner }, call), by)
  t.strictSame(typesOf(events), ['OwnerRemoved', 'MemberRemoved'])
})

t.test('refusals', async (t) => {
  const { by, ownerId } = await organization()
  const events = await appended(async () => {
    const remove = (userId: string, who: { asOwner: boolean }) =>
      removeMember({ userId, by: who }, by)
    await t.rejects(remove('none', asOwner), { code: 'member_not_found' })
    await t.rejects(remove(ownerId, asAdmin), { code: 'owner_required' })
    await t.rejects(remove(ownerId, asOwner), { code: 'last_owner' })
  })
  t.strictSame(events, [])
})
