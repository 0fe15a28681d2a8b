import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { addMember, acceptInvitation, enterOrganization, appendedOnce, organization } =
  await commanding(t)

t.test('a member makes an organization the current one', async (t) => {
  const first = await organization()
  const second = await organization()
  const command = { organizationId: second.organizationId, userId: first.ownerId }
  const refused = { code: 'member_not_found' }
  await t.rejects(enterOrganization(command, first.by), refused)
  await addMember({ email: first.email, role: 'MEMBER' }, second.by)
  await t.rejects(enterOrganization(command, first.by), refused, 'not where she is only invited')
  await acceptInvitation({ ...command, allowBacking: false, current: false }, first.by)
  const events = await appendedOnce(t, (call) => enterOrganization(command, call), first.by)
  t.match(events, [
    { type: 'CurrentOrganizationChanged', data: { organizationId: second.organizationId } },
  ])
})
