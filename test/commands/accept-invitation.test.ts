import t from 'tap'
import { userStream } from '../../src/domain/user/user.ts'
import { commanding, typesOf } from '../support/commanding.ts'

const { acceptInvitation, addMember, appendedOnce, load, organization, store } = await commanding(t)

t.test('a person joins; only the organization that invited is told', async (t) => {
  const inviter = await organization()
  const home = await organization()
  const { organizationId } = inviter
  const email = 'joins@example.com'
  const { userId } = await addMember({ email, role: 'MEMBER' }, inviter.by)
  const command = { organizationId, userId, allowBacking: true, current: false }
  const before = await store.head()
  const events = await appendedOnce(t, (call) => acceptInvitation(command, call), {
    ...home.by,
    userId,
  })
  t.strictSame(typesOf(events), [
    'MemberActivated',
    'BackingAllowed',
    'InvitationsSettled',
    'CurrentOrganizationChanged',
  ])
  const organizationIds: string[] = []
  for await (const batch of store.history(before))
    for (const { metadata } of batch) organizationIds.push(metadata.organization_id)
  t.strictSame(organizationIds, [organizationId, organizationId, 'platform', 'platform'])
})

t.test('the current organization stays, unless she asks', async (t) => {
  const first = await organization()
  const second = await organization()
  const userId = first.ownerId
  const current = async () => (await load(userStream(userId))).state.currentOrganizationId
  await addMember({ email: first.email, role: 'MEMBER' }, second.by)
  const command = { organizationId: second.organizationId, userId, allowBacking: false }
  await acceptInvitation({ ...command, current: false }, first.by)
  t.equal(await current(), first.organizationId)
  await acceptInvitation({ ...command, current: true }, first.by)
  t.equal(await current(), second.organizationId)
})

t.test('where there is no invitation', async (t) => {
  const { by, ownerId: userId } = await organization()
  const command = { organizationId: 'nowhere', userId, allowBacking: false, current: true }
  await t.rejects(acceptInvitation(command, by), { code: 'invitation_not_found' })
})
