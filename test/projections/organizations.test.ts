import t from 'tap'
import { organizations } from '../../projections/organizations.ts'
import { handlesAll, projecting } from '../support/given.ts'

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
    { type: 'OrganizationColored', data: { color: '#0b6e4f' } },
    { type: 'OrganizationRenamed', data: { name: 'Apex' }, at: later },
  ).shows({
    color: '#0b6e4f',
    name: 'Apex',
    owner_user_id: 'user-2',
    owner_user_ids: ['user-2'],
    updated_at: later,
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, organizations))
