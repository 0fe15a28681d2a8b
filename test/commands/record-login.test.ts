import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { commanding, platformCall, typesOf } from '../support/commanding.ts'

const { addMember, removeMember, recordLogin, appended, appendedOnce, organization } =
  await commanding(t)
const owner = { email: 'owner@example.com', name: 'Olga' }

t.test('who was not known gets an account', async (t) => {
  const login = { email: 'new@example.com', provider: 'google', subject: 's-1' }
  const events = await appendedOnce(t, (by) => recordLogin(login, by), platformCall)
  t.strictSame(typesOf(events), ['EmailClaimed', 'UserRegistered', 'IdentityLinked'])
  t.notMatch(JSON.stringify(events), /s-1/, 'the subject is stored as its hash')
})

t.test('pending memberships become active', async (t) => {
  const { by, organizationId } = await organization()
  const email = 'ann@example.com'
  const { userId } = await addMember({ email, role: 'ADMIN' }, by)
  const login = { email, provider: 'google', subject: 's-2' }
  const events = await appendedOnce(t, (call) => recordLogin(login, call), platformCall)
  t.strictSame(
    events.map(({ type, stream }) => [type, stream]),
    [
      ['IdentityLinked', `user-${userId}`],
      ['MemberActivated', `member-${organizationId}_${userId}`],
      ['InvitationsSettled', `user-${userId}`],
      ['CurrentOrganizationChanged', `user-${userId}`],
    ],
  )
  const another = { ...login, subject: 's-3' }
  const none = await appended(() =>
    t.rejects(recordLogin(another, platformCall), { code: 'identity_conflict' }),
  )
  t.strictSame(none, [])
})

t.test('an invitation is taken up by signing in', async (t) => {
  const { createOrganization, addMember, recordLogin, read, seen } = await commanded(t)
  const { organizationId } = await createOrganization({ name: 'Acme', owner }, platformCall)
  const inside = { ...platformCall, organizationId }
  const { userId } = await addMember({ email: 'ann@example.com', role: 'ADMIN' }, inside)
  await seen()
  const id = `${organizationId}/${userId}`
  t.match(await read.members.get(id), { role: 'ADMIN', status: 'pending' })
  await t.rejects(addMember({ email: 'ann@example.com', role: 'MEMBER' }, inside), {
    code: 'member_exists',
  })
  const login = { email: 'Ann@example.com', provider: 'google', subject: 's-1' }
  t.match(await recordLogin(login, platformCall), {
    userId,
    created: false,
    joined: [organizationId],
    currentOrganizationId: organizationId,
  })
  await seen()
  t.match(await read.members.get(id), { status: 'active' })
  t.match(await recordLogin(login, platformCall), { joined: [] })
  await t.rejects(recordLogin({ ...login, subject: 's-2' }, platformCall), {
    code: 'identity_conflict',
  })
  const stranger = { email: 'new@example.com', provider: 'google', subject: 's-3' }
  t.match(await recordLogin(stranger, platformCall), {
    created: true,
    joined: [],
    currentOrganizationId: null,
  })
})

t.test('an invitation that was withdrawn is void', async (t) => {
  const { by } = await organization()
  const email = 'withdrawn@example.com'
  const { userId } = await addMember({ email, role: 'MEMBER' }, by)
  await removeMember({ userId, by: { asOwner: false } }, by)
  const login = { email, provider: 'google', subject: 's-4' }
  t.match(await recordLogin(login, platformCall), { joined: [] })
})
