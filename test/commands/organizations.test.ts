import t from 'tap'
import { commanded, platformCall } from '../support/commanded.ts'

const owner = { email: 'owner@example.com', name: 'Olga' }
const asOwner = { asOwner: true }
const asAdmin = { asOwner: false }

t.test('an organization comes with its owner and its orchestrator', async (t) => {
  const { createOrganization, read, seen, vault } = await commanded(t)
  const made = await createOrganization(
    { name: 'Acme', owner, plan: 'pro_monthly', credits: 5_000_000 },
    platformCall,
  )
  await seen()
  const { organizationId, ownerUserId, orchestratorAgentId } = made
  t.match(await read.organizations.get(organizationId), {
    name: 'Acme',
    owner_user_id: ownerUserId,
    orchestrator_agent_id: orchestratorAgentId,
  })
  t.match(await read.members.get(`${organizationId}/${ownerUserId}`), {
    role: 'OWNER',
    status: 'active',
  })
  const user = await read.users.get(ownerUserId)
  t.match(user, { current_organization_id: organizationId, plan: 'pro_monthly', origin: 'owner' })
  t.equal(user && (await vault.open(user.email)), owner.email)
  t.equal(user && (await vault.open(user.name)), owner.name)
  t.match(await read.accounts.get(ownerUserId), { balance: 5_000_000 })
  t.match(await read.agents.get(orchestratorAgentId), {
    organization_id: organizationId,
    agent_type: 'LLM_AGENT',
    model: 'offline/extractive',
    is_active: true,
  })
})

t.test('the same call again changes nothing', async (t) => {
  const { createOrganization, store } = await commanded(t)
  const call = { ...platformCall, scope: 'scope-1' }
  const input = { name: 'Acme', owner, plan: 'pro_monthly', credits: 5_000_000 } as const
  const first = await createOrganization(input, call)
  const head = await store.head()
  const { position: _, ...second } = await createOrganization(input, call)
  t.match(first, second)
  t.equal(await store.head(), head)
})

t.test('an address belongs to one account, however many claim it at once', async (t) => {
  const { registerUser, read, seen, secrets } = await commanded(t)
  const names = Array.from({ length: 12 }, (_, n) => `Ann ${n}`)
  const accounts = await Promise.all(
    names.map((name, n) => {
      const email = n % 2 ? 'ann@example.com' : ' Ann@Example.com'
      return registerUser({ email, name, origin: 'self' }, platformCall)
    }),
  )
  t.equal(new Set(accounts.map(({ userId }) => userId)).size, 1)
  t.equal(accounts.filter(({ created }) => created).length, 1)
  await seen()
  const equals = [secrets.hashEmail('ann@example.com')]
  t.equal((await read.users.find({ index: 'by_email', equals, limit: 10 })).total, 1)
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
  const { createOrganization, addMember, removeMember, recordLogin } = await commanded(t)
  const { organizationId } = await createOrganization({ name: 'Acme', owner }, platformCall)
  const inside = { ...platformCall, organizationId }
  const { userId } = await addMember({ email: 'ann@example.com', role: 'MEMBER' }, inside)
  await removeMember({ userId, by: asAdmin }, inside)
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  t.match(await recordLogin(login, platformCall), { joined: [] })
})

t.test('an organization keeps an owner', async (t) => {
  const all = await commanded(t)
  const { createOrganization, addMember, changeMember, removeMember, recordLogin } = all
  const made = await createOrganization({ name: 'Acme', owner }, platformCall)
  const { organizationId, ownerUserId } = made
  const inside = { ...platformCall, organizationId }
  const { userId } = await addMember({ email: 'ann@example.com', role: 'MEMBER' }, inside)
  await t.rejects(changeMember({ userId, role: 'OWNER', by: asOwner }, inside), {
    code: 'member_pending',
  })
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  await recordLogin(login, platformCall)
  await t.rejects(removeMember({ userId: ownerUserId, by: asOwner }, inside), {
    code: 'last_owner',
  })
  await changeMember({ userId, role: 'OWNER', by: asOwner }, inside)
  const outcomes = await Promise.allSettled([
    changeMember({ userId, role: 'ADMIN', by: asOwner }, inside),
    changeMember({ userId: ownerUserId, role: 'ADMIN', by: asOwner }, inside),
  ])
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  await all.seen()
  const roles = await all.read.members.find({
    index: 'by_organization',
    equals: [organizationId],
    limit: 10,
  })
  t.equal(roles.items.filter(({ role }) => role === 'OWNER').length, 1)
})

t.test('credits are granted to users there are', async (t) => {
  const { createOrganization, grantCredits } = await commanded(t)
  const { ownerUserId: userId } = await createOrganization({ name: 'Acme', owner }, platformCall)
  const grant = { userId, amount: 1_500_000, reason: 'gift' }
  t.match(await grantCredits(grant, platformCall), { balance: 1_500_000 })
  t.match(await grantCredits(grant, platformCall), { balance: 3_000_000 })
  const once = { ...platformCall, scope: 'scope-1' }
  t.match(await grantCredits(grant, once), { balance: 4_500_000 })
  t.match(await grantCredits(grant, once), { balance: 4_500_000 })
  await t.rejects(grantCredits({ ...grant, userId: 'nobody' }, platformCall), {
    code: 'user_not_found',
  })
})
