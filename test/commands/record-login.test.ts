import t from 'tap'
import { decideClaim, emailStream } from '../../src/domain/email/email.ts'
import { decideLinkIdentity, decideRegister, userStream } from '../../src/domain/user/user.ts'
import { userKey } from '../../src/security/vault.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const all = await commanding(t)
const { addMember, provisionUser, removeMember, recordLogin, erasePersonalData } = all
const { appended, appendedOnce, organization, secrets, vault, load, transact } = all

t.test('who was not known gets an account', async (t) => {
  const login = { email: 'new@example.com', provider: 'google', subject: 's-1' }
  const events = await appendedOnce(t, (by) => recordLogin(login, by), platformCall)
  t.strictSame(typesOf(events), [
    'EmailClaimed',
    'UserRegistered',
    'IdentityClaimed',
    'IdentityLinked',
  ])
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
    t.match(events[0], { type: 'IdentityClaimed', data: { userId } })
    t.strictSame(
      events.slice(1).map(({ type, stream }) => [type, stream]),
      [
        ['IdentityLinked', `user-${userId}`],
        ['MemberActivated', `member-${organizationId}_${userId}`],
        ['InvitationsSettled', `user-${userId}`],
        ['CurrentOrganizationChanged', `user-${userId}`],
      ],
    )
    const later = await recordLogin(login, platformCall)
    t.match(later, { joined: [], invitations: [other.organizationId] })
    const otherSubject = { ...login, subject: 's-3' }
    const none = await appended(() =>
      t.rejects(recordLogin(otherSubject, platformCall), { code: 'identity_conflict' }),
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
  const result = { userId, created: false, joined: [], invitations: [organizationId] }
  t.match(await recordLogin(login, platformCall), { ...result, currentOrganizationId: null })
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

const signIn = (email: string, subject: string, more: object = {}) =>
  recordLogin({ email, provider: 'google', subject, ...more }, platformCall)

t.test('an identity that signs in with a new address is the same account', async (t) => {
  const { userId } = await signIn('first@example.com', 'moves')
  const login = { email: 'Second@example.com', provider: 'google', subject: 'moves' }
  const events = await appendedOnce(t, (call) => recordLogin(login, call), platformCall)
  const streams = ['second@example.com', 'first@example.com'].map(
    (email) => emailStream(secrets.hashEmail(email)).name,
  )
  t.match(events, [
    { type: 'EmailClaimed', stream: streams[0], data: { userId } },
    { type: 'AddressChanged', stream: `user-${userId}` },
    { type: 'EmailReleased', stream: streams[1] },
  ])
  const changed = events[1]?.data as { email: { $sealed: string; box: string } }
  t.equal(await vault.open(changed.email), 'second@example.com')
  t.match(await recordLogin(login, platformCall), { userId, created: false })

  const next = await signIn('first@example.com', 'another person')
  t.not(next.userId, userId, 'the old address is free for another person')
})

t.test('an identity that signs in with the address of another account is refused', async (t) => {
  const { by, organizationId } = await organization()
  await signIn('mine@example.com', 'mine')
  await signIn('hers@example.com', 'hers')
  const invited = await addMember({ email: 'invited-too@example.com', role: 'MEMBER' }, by)
  const accept = [{ organizationId, allowBacking: false }]
  const events = await appended(async () => {
    for (const email of ['hers@example.com', 'HERS@Example.com', 'invited-too@example.com'])
      await t.rejects(signIn(email, 'mine', { accept }), { code: 'address_taken' })
  })
  t.strictSame(events, [], 'nothing is accepted or linked either')
  t.match(await signIn('hers@example.com', 'hers'), { created: false })
  t.match(await signIn('invited-too@example.com', 'her own'), { userId: invited.userId })
})

t.test('providers and subjects are not confused', async (t) => {
  const first = { email: 'one@example.com', provider: 'a/b', subject: 'c' }
  const second = { email: 'two@example.com', provider: 'a', subject: 'b/c' }
  const { userId } = await recordLogin(first, platformCall)
  t.not((await recordLogin(second, platformCall)).userId, userId)
})

t.test('many first sign-ins of an identity at once make one account', async (t) => {
  const login = { email: 'many@example.com', provider: 'google', subject: 'many' }
  const logins = Array.from({ length: 8 }, () => recordLogin(login, platformCall))
  const accounts = await Promise.all(logins)
  t.equal(new Set(accounts.map(({ userId }) => userId)).size, 1)
  t.equal(accounts.filter(({ created }) => created).length, 1)
})

/** An account as earlier releases stored it. */
const earlierAccount = async (id: string, spelling: string, subject?: string) => {
  const [emailHash] = secrets
    .earlierEmailHashes(spelling)
    .filter((_, n) => n === 0)
    .concat(secrets.hashEmail(spelling))
  if (emailHash === undefined) throw new Error('no hash')
  const text = await vault.seal(userKey(id), spelling)
  await transact(emailStream(emailHash), decideClaim(id), platformCall)
  const data = { email: text, emailHash, name: text, origin: 'self' } as const
  await transact(userStream(id), decideRegister(data), platformCall)
  if (subject === undefined) return
  const subjectHash = secrets.hashSubject(`google/${subject}`)
  const identity = { provider: 'google', subjectHash }
  await transact(userStream(id), decideLinkIdentity(identity), platformCall)
}

t.test('an account that an earlier release stored under another spelling is found', async (t) => {
  await earlierAccount('user-nfd', 'zoe\u0308@example.com')
  const login = { email: 'Zo\u00eb@example.com', provider: 'google', subject: 'zoe' }
  t.match(await recordLogin(login, platformCall), { userId: 'user-nfd', created: false })
  const { state } = await load(userStream('user-nfd'))
  t.equal(state.emailHash, secrets.hashEmail('zo\u00eb@example.com'))
  t.match(await signIn('zoe\u0308@example.com', 'zoe'), { userId: 'user-nfd' })
})

t.test('an identity that was linked before identities were claimed is found', async (t) => {
  await earlierAccount('user-earlier', 'earlier@example.com', 'earlier')
  const linkedTo = 'user-earlier'
  const moved = await signIn('moved@example.com', 'earlier', { linkedTo })
  t.match(moved, { userId: 'user-earlier', created: false })

  await earlierAccount('user-x', 'x@example.com', 'both')
  await earlierAccount('user-y', 'y@example.com', 'both')
  const asBefore = await signIn('y@example.com', 'both', { linkedTo: 'user-x' })
  t.match(asBefore, { userId: 'user-y' }, 'of two, the one that the address leads to')

  const lie = await signIn('lie@example.com', 'lie', { linkedTo: 'user-x' })
  t.not(lie.userId, 'user-x', 'only where the account has the identity')
})

t.test('what a crash leaves of a change of address leads nobody to the account', async (t) => {
  const { userId } = await signIn('was@example.com', 'crashed')
  const claimed = emailStream(secrets.hashEmail('becomes@example.com'))
  await transact(claimed, decideClaim(userId), platformCall)
  const other = await signIn('becomes@example.com', 'somebody else')
  t.not(other.userId, userId)
  t.match(await signIn('was@example.com', 'crashed'), { userId })
})

t.test('an erased account has an address again once its person signs in', async (t) => {
  const { by } = await organization()
  const email = 'erased@example.com'
  const { userId } = await provisionUser({ email }, by)
  await erasePersonalData({ userId }, by)
  const events = await appended(() => signIn(email, 'erased'))
  t.match(
    events.find(({ type }) => type === 'AddressChanged'),
    { stream: `user-${userId}`, data: { email: { $sealed: userKey(userId, 1) } } },
  )
})

t.test('an address that is not verified leads to no account and changes none', async (t) => {
  const { userId } = await signIn('victim@example.com', 'victim')
  const events = await appended(async () => {
    const unverified = { verified: false }
    for (const email of ['victim@example.com', 'nobody@example.com'])
      await t.rejects(signIn(email, 'attacker', unverified), { code: 'address_not_verified' })
    const known = await signIn('other@example.com', 'victim', unverified)
    t.match(known, { userId, created: false }, 'a known identity signs in')
  })
  t.strictSame(events, [])
})

t.test(
  'a person whose change of address crashed gets the address with the next login',
  async (t) => {
    const { userId } = await signIn('before@example.com', 'crashed before')
    const claimed = emailStream(secrets.hashEmail('after@example.com'))
    await transact(claimed, decideClaim(userId), platformCall)
    const events = await appended(() => signIn('after@example.com', 'crashed before'))
    t.strictSame(typesOf(events), ['AddressChanged', 'EmailReleased'])
    t.equal(events[1]?.stream, emailStream(secrets.hashEmail('before@example.com')).name)
  },
)

t.test(
  'an address that another account claimed in vain goes to who signs in with it',
  async (t) => {
    const { userId: stale } = await signIn('stale@example.com', 'stale')
    const claimed = emailStream(secrets.hashEmail('wanted@example.com'))
    await transact(claimed, decideClaim(stale), platformCall)
    const { userId } = await signIn('other@example.com', 'other')
    const events = await appended(() => signIn('wanted@example.com', 'other'))
    t.match(events, [
      { type: 'EmailReleased', stream: claimed.name, data: { userId: stale } },
      { type: 'EmailClaimed', stream: claimed.name, data: { userId } },
      { type: 'AddressChanged', stream: `user-${userId}` },
      { type: 'EmailReleased' },
    ])
  },
)

t.test('where only known accounts sign in, an unknown address registers none', async (t) => {
  const email = 'unknown-account@example.com'
  const login = { email, provider: 'openid', subject: 's-unknown', onlyKnown: true }
  await t.rejects(recordLogin(login, platformCall), { code: 'account_not_found' })
  const { by } = await organization()
  const { userId } = await provisionUser({ email }, by)
  t.match(await recordLogin(login, platformCall), { userId, created: false })
})
