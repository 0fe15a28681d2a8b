import t from 'tap'
import { accounts } from '../../projections/accounts.ts'
import { agents } from '../../projections/agents.ts'
import { apiKeys } from '../../projections/api-keys.ts'
import { members } from '../../projections/members.ts'
import { organizations } from '../../projections/organizations.ts'
import { users } from '../../projections/users.ts'
import { agentEvents } from '../../src/domain/agent/events.ts'
import { apiKeyEvents } from '../../src/domain/api-key/events.ts'
import { userEvents } from '../../src/domain/user/events.ts'
import { sample } from '../support/events.ts'
import { projecting } from '../support/given.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'

t.test('organizations', async (t) => {
  const seen = projecting(t, organizations, 'organization-org-1_org-1')
  const data = { name: 'Acme', ownerUserId: 'user-1', orchestratorAgentId: 'agent-1' }
  const created = { type: 'OrganizationCreated', data } as const
  seen(created).shows({
    organization_id: 'org-1',
    name: 'Acme',
    owner_user_id: 'user-1',
    orchestrator_agent_id: 'agent-1',
    created_at: at,
  })
  seen(
    created,
    { type: 'OwnerAdded', data: { userId: 'user-2' } },
    { type: 'OwnerRemoved', data: { userId: 'user-1' } },
    { type: 'OrganizationRenamed', data: { name: 'Apex' }, at: later },
  ).shows({
    name: 'Apex',
    owner_user_id: 'user-2',
    owner_user_ids: ['user-2'],
    updated_at: later,
  })
})

t.test('users', async (t) => {
  const seen = projecting(t, users, 'user-user-1')
  const data = userEvents.UserRegistered.parse(sample('UserRegistered').data)
  const registered = { type: 'UserRegistered', data } as const
  seen(registered).shows({
    user_id: 'user-1',
    email: data.email,
    email_hash: data.emailHash,
    origin: 'provisioned',
    provisioned_by: data.provisionedBy ?? '',
    signed_in: false,
    current_organization_id: null,
    plan: null,
  })
  seen(
    registered,
    { type: 'UserInvited', data: { organizationId: 'org-1' } },
    { type: 'IdentityLinked', data: { provider: 'google', subjectHash: 's' } },
    { type: 'CurrentOrganizationChanged', data: { organizationId: 'org-1' } },
    { type: 'SubscriptionChanged', data: { plan: 'pro_monthly' } },
  ).shows({ signed_in: true, current_organization_id: 'org-1', plan: 'pro_monthly' })
})

t.test('members', async (t) => {
  const seen = projecting(t, members, 'member-org-1_user-1')
  const added = { type: 'MemberAdded', data: { role: 'MEMBER', status: 'pending' } } as const
  seen(added, { type: 'MemberActivated', data: {} }).shows(
    { organization_id: 'org-1', user_id: 'user-1', role: 'MEMBER', status: 'active' },
    'org-1/user-1',
  )
  seen(added, { type: 'MemberRoleChanged', data: { role: 'ADMIN' } }).shows({ role: 'ADMIN' })
  seen(added, { type: 'MemberRemoved', data: {} }).showsNothing('org-1/user-1')
})

t.test('API keys', async (t) => {
  const data = apiKeyEvents.ApiKeyCreated.parse(sample('ApiKeyCreated').data)
  const created = { type: 'ApiKeyCreated', data } as const
  const seen = projecting(t, apiKeys, 'apikey-org-1_key-1')
  seen(created).shows({
    key_id: 'key-1',
    organization_id: 'org-1',
    hash: data.hash,
    key_hint: '…wxyz',
    last_used_at: null,
    request_count: 0,
  })
  seen(
    created,
    { type: 'ApiKeyUsed', data: { requests: 2, lastUsedAt: at } },
    { type: 'ApiKeyUsed', data: { requests: 3, lastUsedAt: later } },
    { type: 'ApiKeyChanged', data: { scopes: ['rag:read'], expiresAt: null } },
  ).shows({
    request_count: 5,
    last_used_at: later,
    scopes: ['rag:read'],
    expires_at: null,
    name: data.name,
  })
  seen(created, { type: 'ApiKeyRevoked', data: {} }).showsNothing('key-1')
  projecting(
    t,
    apiKeys,
    'apikey-user_key-2',
  )({
    type: 'ApiKeyCreated',
    data: { ...data, type: 'user' },
  }).shows({ key_id: 'key-2', organization_id: null, type: 'user' })
})

t.test('accounts', async (t) => {
  const seen = projecting(t, accounts, 'account-user-1')
  const granted = {
    type: 'CreditsGranted',
    data: { grantId: 'g', amount: 10, reason: 'initial' },
  } as const
  const reserved = { type: 'CreditsReserved', data: { runId: 'run-1', amount: 4 } } as const
  seen(granted, reserved).shows({ user_id: 'user-1', balance: 10, reservations: { 'run-1': 4 } })
  seen(granted, reserved, {
    type: 'CreditsSettled',
    data: { runId: 'run-1', amount: 3 },
    at: later,
  }).shows({ balance: 7, reservations: {}, updated_at: later })
  seen(reserved, { type: 'ReservationReleased', data: { runId: 'run-1', reason: 'free' } }).shows({
    balance: 0,
    reservations: {},
  })
})

t.test('agents', async (t) => {
  const seen = projecting(t, agents, 'squad-org-1_org-1')
  const agentId = 'agent-1'
  const data = { ...agentEvents.AgentCreated.parse(sample('AgentCreated').data), agentId }
  const created = { type: 'AgentCreated', data } as const
  seen(created).shows({
    agent_id: 'agent-1',
    organization_id: 'org-1',
    agent_type: 'LLM_AGENT',
    has_tools: true,
    has_mcp: true,
    sub_agents: data.subAgents,
    output_key: 'facts',
  })
  seen(created, {
    type: 'AgentChanged',
    data: { agentId, tools: [], model: null, temperature: null },
    at: later,
  }).shows({ has_tools: false, has_mcp: true, model: null, temperature: null, updated_at: later })
  seen(created, { type: 'AgentDeleted', data: { agentId } }).showsNothing(agentId)
})
