import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { addMember, acceptInvitation, enterOrganization, appendedOnce, organization } =
  await commanding(t)

t.test('a member makes an organization the current one', async (t) => {
  const one = await organization()
  const two = await organization()
  const asked = { organizationId: two.organizationId, userId: one.ownerId }
  const refused = { code: 'member_not_found' }
  await t.rejects(enterOrganization(asked, one.by), refused)
  await addMember({ email: one.email, role: 'MEMBER' }, two.by)
  await t.rejects(enterOrganization(asked, one.by), refused, 'not where she is only invited')
  await acceptInvitation({ ...asked, allowBacking: false, current: false }, one.by)
  const events = await appendedOnce(t, (call) => enterOrganization(asked, call), one.by)
  t.match(events, [
    { type: 'CurrentOrganizationChanged', data: { organizationId: two.organizationId } },
  ])
})
