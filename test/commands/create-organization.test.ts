import t from 'tap'
import { commanded } from '../support/commanded.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { platformCall } from '../support/recorded.ts'

const owner = { email: 'owner@example.com', name: 'Olga' }
const { createOrganization, appended, appendedOnce } = await commanding(t)

t.test('an organization comes with its owner and its orchestrator', async (t) => {
  const { createOrganization, read, seen, vault } = await commanded(t)
  const home = await createOrganization(
    { name: 'Acme', owner, plan: 'pro_monthly', credits: 5_000_000 },
    platformCall,
  )
  await seen()
  const { organizationId, ownerUserId, orchestratorAgentId } = home
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
    model: null,
    is_active: true,
  })
})

t.test('the same call again changes nothing', async (t) => {
  const input = { name: 'Acme', owner, plan: 'pro_monthly', credits: 5_000_000 } as const
  const events = await appendedOnce(t, (call) => createOrganization(input, call), platformCall)
  t.strictSame(typesOf(events), [
    'EmailClaimed',
    'UserRegistered',
    'OrganizationCreated',
    'MemberAdded',
    'CurrentOrganizationChanged',
    'AgentCreated',
    'SubscriptionChanged',
    'CreditsGranted',
  ])
  const call = { ...platformCall, scope: 'scope-1' }
  const { position: _, ...first } = await createOrganization(input, call)
  t.match(await createOrganization(input, call), first)
})

t.test('an account that exists is the owner, and stays in its current organization', async (t) => {
  await createOrganization({ name: 'First', owner }, platformCall)
  const again = () => createOrganization({ name: 'Second', owner }, platformCall)
  const events = await appended(again)
  t.strictSame(typesOf(events), ['OrganizationCreated', 'MemberAdded', 'AgentCreated'])
})
