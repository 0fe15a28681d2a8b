import t from 'tap'
import { commanding, platformCall, typesOf } from '../support/commanding.ts'

const {
  addMember,
  provisionUser,
  removeMember,
  recordLogin,
  appended,
  appendedOnce,
  organization,
} = await commanding(t)

t.test('who was not known gets an account', async (t) => {
  const login = { email: 'new@example.com', provider: 'google', subject: 's-1' }
  const events = await appendedOnce(t, (by) => recordLogin(login, by), platformCall)
  t.strictSame(typesOf(events), ['EmailClaimed', 'UserRegistered', 'IdentityLinked'])
  t.notMatch(JSON.stringify(events), /s-1/, 'the subject is stored as its hash')
})

t.test(
  'the first sign-in activates the membership where the account was provisioned',
  async (t) => {
    const { by, organizationId } = await organization()
    const other = await organization()
    const email = 'ann@example.com'
    const { userId } = await provisionUser({ email }, by)
    await provisionUser({ email }, other.by)
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
    const later = await recordLogin(login, platformCall)
    t.match(later, { joined: [], invitations: [other.organizationId] })
    const another = { ...login, subject: 's-3' }
    const none = await appended(() =>
      t.rejects(recordLogin(another, platformCall), { code: 'identity_conflict' }),
    )
    t.strictSame(none, [])
  },
)

t.test('another invitation waits until it is accepted', async (t) => {
  const { by, organizationId } = await organization()
  const email = 'invited@example.com'
  const { userId } = await addMember({ email, role: 'ADMIN' }, by)
  await t.rejects(addMember({ email, role: 'MEMBER' }, by), { code: 'member_exists' })
  const login = { email: 'Invited@example.com', provider: 'google', subject: 's-5' }
  const waits = { userId, created: false, joined: [], invitations: [organizationId] }
  t.match(await recordLogin(login, platformCall), { ...waits, currentOrganizationId: null })
  const accept = [
    { organizationId, allowBacking: true },
    { organizationId: 'nowhere', allowBacking: true },
  ]
  const events = await appendedOnce(
    t,
    (call) => recordLogin({ ...login, accept }, call),
    platformCall,
  )
  t.strictSame(typesOf(events), [
    'MemberActivated',
    'BackingAllowed',
    'InvitationsSettled',
    'CurrentOrganizationChanged',
  ])
  t.match(await recordLogin(login, platformCall), { joined: [], invitations: [] })
})

t.test('an invitation that was withdrawn is void', async (t) => {
  const { by, organizationId } = await organization()
  const email = 'withdrawn@example.com'
  const { userId } = await addMember({ email, role: 'MEMBER' }, by)
  await removeMember({ userId, by: { asOwner: false } }, by)
  const accept = [{ organizationId, allowBacking: false }]
  const login = { email, provider: 'google', subject: 's-4', accept }
  t.match(await recordLogin(login, platformCall), { joined: [] })
})
