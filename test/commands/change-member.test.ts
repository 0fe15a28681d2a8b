import t from 'tap'
import { memberStream } from '../../src/domain/member/member.ts'
import { commanding } from '../support/commanding.ts'

const { addMember, changeMember, appended, appendedOnce, load, organization } = await commanding(t)
const asOwner = { asOwner: true }
const asAdmin = { asOwner: false }

t.test('another role', async (t) => {
  const { by, organizationId, member } = await organization()
  const userId = await member()
  const command = { userId, role: 'ADMIN', by: asAdmin } as const
  const events = await appendedOnce(t, (call) => changeMember(command, call), by)
  const stream = `member-${organizationId}_${userId}`
  t.strictSame(events, [{ type: 'MemberRoleChanged', data: { role: 'ADMIN' }, stream }])
})

t.test('an owner counts last, and is taken away first', async (t) => {
  const { by, member } = await organization()
  const userId = await member()
  const changed = async (role: 'OWNER' | 'MEMBER') => {
    const command = { userId, role, by: asOwner }
    return (await appendedOnce(t, (call) => changeMember(command, call), by)).map(
      ({ type, data }) => [type, data],
    )
  }
  t.strictSame(await changed('OWNER'), [
    ['MemberRoleChanged', { role: 'OWNER' }],
    ['OwnerAdded', { userId }],
  ])
  t.strictSame(await changed('MEMBER'), [
    ['OwnerRemoved', { userId }],
    ['MemberRoleChanged', { role: 'MEMBER' }],
  ])
})

t.test('refusals', async (t) => {
  const { by, ownerId, member } = await organization()
  const userId = await member()
  const events = await appended(async () => {
    const change = (userId: string, role: 'OWNER' | 'MEMBER', who: { asOwner: boolean }) =>
      changeMember({ userId, role, by: who }, by)
    await t.rejects(change('none', 'MEMBER', asOwner), { code: 'member_not_found' })
    await t.rejects(change(userId, 'OWNER', asAdmin), { code: 'owner_required' })
    await t.rejects(change(ownerId, 'MEMBER', asAdmin), { code: 'owner_required' })
    await t.rejects(change(ownerId, 'MEMBER', asOwner), { code: 'last_owner' })
  })
  t.strictSame(events, [])
})

t.test('an organization keeps an owner', async (t) => {
  const { by, ownerId, member, organizationId } = await organization()
  const pending = await addMember({ email: 'ann@example.com', role: 'MEMBER' }, by)
  await t.rejects(changeMember({ userId: pending.userId, role: 'OWNER', by: asOwner }, by), {
    code: 'member_pending',
  })
  const userId = await member()
  await changeMember({ userId, role: 'OWNER', by: asOwner }, by)
  const outcomes = await Promise.allSettled([
    changeMember({ userId, role: 'ADMIN', by: asOwner }, by),
    changeMember({ userId: ownerId, role: 'ADMIN', by: asOwner }, by),
  ])
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  const roles = await Promise.all(
    [userId, ownerId].map(async (id) => (await load(memberStream(organizationId, id))).state.role),
  )
  t.equal(roles.filter((role) => role === 'OWNER').length, 1)
})
