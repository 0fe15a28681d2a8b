import t from 'tap'
import { commanding, typesOf } from '../support/commanding.ts'

const { addMember, declineInvitation, appendedOnce, organization } = await commanding(t)

t.test('an invitation is declined, and may be made again', async (t) => {
  const { by, organizationId } = await organization()
  const email = 'ann@example.com'
  const { userId } = await addMember({ email, role: 'MEMBER' }, by)
  const command = { organizationId, userId }
  const events = await appendedOnce(t, (call) => declineInvitation(command, call), {
    ...by,
    organizationId: 'elsewhere',
    userId,
  })
  t.strictSame(typesOf(events), ['InvitationDeclined', 'InvitationsSettled'])
  await t.rejects(declineInvitation(command, by), { code: 'invitation_not_found' })
  t.match(await addMember({ email, role: 'ADMIN' }, by), { userId })
})

t.test('a member has nothing to decline', async (t) => {
  const { by, organizationId, ownerId: userId } = await organization()
  await t.rejects(declineInvitation({ organizationId, userId }, by), {
    code: 'invitation_not_found',
  })
})
