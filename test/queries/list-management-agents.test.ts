import t from 'tap'
import { listManagementAgents } from '../../queries/list-management-agents.ts'
import type { AgentConfiguration } from '../../src/domain/agent/events.ts'
import { organizationStream } from '../../src/domain/organization/organization.ts'
import { commanded } from '../support/commanded.ts'
import { call } from '../support/recorded.ts'
import { clockFrom } from '../support/ticking.ts'

const calling = (...names: string[]): Partial<AgentConfiguration> => ({
  tools: names.map((name) => ({
    type: 'api_call',
    name: name.toLowerCase(),
    description: '',
    method: 'GET',
    url: 'https://api.example',
    headers: { Authorization: `Bearer {{credential:${name}}}`, Accept: 'text/plain' },
    parameters: {},
  })),
})

t.test('roots, and what their squads need', async (t) => {
  const all = await commanded(t)
  const clock = clockFrom(call.at)
  const { organizationId } = call
  await all.transact(
    organizationStream(organizationId),
    () => [
      {
        type: 'OrganizationCreated',
        data: { name: 'Acme', ownerUserId: 'user-1', orchestratorAgentId: 'orchestrator' },
      },
    ],
    call,
  )
  const create = (agentId: string, more: Partial<AgentConfiguration> = {}) =>
    all.createAgent({ name: agentId, agentId, ...more }, { ...call, at: clock.now().toISOString() })
  await create('leaf', {
    ...calling('SHOP', 'SHOP_TWO'),
    mcpServers: [{ name: 'm', url: 'https://m.example', headers: { Key: '{{credential:MCP}}' } }],
  })
  await create('shared', calling('SHOP'))
  await create('first', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['leaf', 'shared'] })
  await create('second', { subAgents: ['shared'], ...calling('OWN') })
  await create('alone', { agentType: 'LOOP_AGENT', ...calling('NEVER_CALLED') })
  await create('orchestrator', { subAgents: ['first', 'shared', 'second'] })
  await all.seen()

  const { agents, total } = await listManagementAgents(all.read)(organizationId)
  t.equal(total, 6)
  t.strictSame(
    agents.map(({ agent_id, root_agent_id, is_root, needs_credentials }) => [
      agent_id,
      is_root ? 'root' : root_agent_id,
      needs_credentials,
    ]),
    [
      ['leaf', 'first', ['MCP', 'SHOP', 'SHOP_TWO']],
      ['shared', 'first', ['SHOP']],
      ['first', 'root', ['MCP', 'SHOP', 'SHOP_TWO']],
      ['second', 'root', ['OWN', 'SHOP']],
      ['alone', 'root', []],
      ['orchestrator', 'root', ['MCP', 'OWN', 'SHOP', 'SHOP_TWO']],
    ],
  )
})
