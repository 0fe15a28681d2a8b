import t from 'tap'
import { agentSummaries } from '../../projections/agent-summaries.ts'
import { type AgentConfiguration, agentEvents } from '../../src/domain/agent/events.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const agentId = 'agent-1'
const data = { ...agentEvents.AgentCreated.parse(sample('AgentCreated').data), agentId }
const servers = (...names: string[]): AgentConfiguration['mcpServers'] => [
  {
    name: 'm',
    url: 'https://m.example',
    headers: Object.fromEntries(names.map((name, n) => [`H${n}`, `{{credential:${name}}}`])),
  },
]

t.test('a summary has what lists and graphs need, and nothing large', async (t) => {
  const seen = projecting(t, agentSummaries, 'squad-org-1_org-1')
  const created = { type: 'AgentCreated', data, position: 7 } as const
  seen(created).shows({
    agent_id: agentId,
    organization_id: 'org-1',
    name: data.name,
    description: data.description,
    has_tools: true,
    has_mcp: true,
    sub_agents: data.subAgents,
    id_end: agentId,
    position: 7,
  })
  const changed = { agentId, tools: [], model: null, mcpServers: servers('B', 'A', 'B') }
  seen(created, { type: 'AgentChanged', data: changed, position: 8 }).shows({
    name: data.name,
    has_tools: false,
    tool_credentials: [],
    server_credentials: ['A', 'B'],
    model: null,
    position: 7,
  })
  seen(created, { type: 'AgentDeleted', data: { agentId } }).showsNothing(agentId)
})

t.test('a summary names as many credentials as a user can have', async (t) => {
  const seen = projecting(t, agentSummaries, 'squad-org-1_org-1')
  const names = Array.from({ length: 150 }, (_, n) => `C${String(n).padStart(3, '0')}`)
  const mcpServers = servers(...names.toReversed())
  seen({ type: 'AgentCreated', data: { ...data, mcpServers } }).shows({
    server_credentials: names.slice(0, 100),
  })
})

t.test('every event it handles was given', async (t) => handlesAll(t, agentSummaries))

t.test('a change keeps the fields that it does not name in the summary', async (t) => {
  const seen = projecting(t, agentSummaries, 'squad-org-1_org-1')
  const created = { type: 'AgentCreated', data: { ...data, model: 'openai/gpt-5' } } as const
  const unchanged = { type: 'AgentChanged', data: { agentId, description: 'new' } } as const
  seen(created, unchanged).shows({
    name: data.name,
    agent_type: data.agentType,
    description: 'new',
    is_active: data.isActive,
    model: 'openai/gpt-5',
    has_tools: true,
    has_mcp: true,
    sub_agents: data.subAgents,
  })
  const model = { type: 'AgentChanged', data: { agentId, model: 'openai/gpt-6' } } as const
  seen(created, model).shows({ model: 'openai/gpt-6' })
})
