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
  const asked = { organizationId, userId, allowBacking: true, current: false }
  const before = await store.head()
  const events = await appendedOnce(t, (call) => acceptInvitation(asked, call), {
    ...home.by,
    userId,
  })
  t.strictSame(typesOf(events), [
    'MemberActivated',
    'BackingAllowed',
    'InvitationsSettled',
    'CurrentOrganizationChanged',
  ])
  const told: string[] = []
  for await (const batch of store.history(before))
    for (const { metadata } of batch) told.push(metadata.organization_id)
  t.strictSame(told, [organizationId, organizationId, 'platform', 'platform'])
})

t.test('the current organization stays, unless she asks', async (t) => {
  const one = await organization()
  const two = await organization()
  const userId = one.ownerId
  const current = async () => (await load(userStream(userId))).state.currentOrganizationId
  await addMember({ email: one.email, role: 'MEMBER' }, two.by)
  const asked = { organizationId: two.organizationId, userId, allowBacking: false }
  await acceptInvitation({ ...asked, current: false }, one.by)
  t.equal(await current(), one.organizationId)
  await acceptInvitation({ ...asked, current: true }, one.by)
  t.equal(await current(), two.organizationId)
})

t.test('where there is no invitation', async (t) => {
  const { by, ownerId: userId } = await organization()
  const asked = { organizationId: 'nowhere', userId, allowBacking: false, current: true }
  await t.rejects(acceptInvitation(asked, by), { code: 'invitation_not_found' })
})
