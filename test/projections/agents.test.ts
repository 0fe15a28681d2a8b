import t from 'tap'
import { agents, limitsIn } from '../../projections/agents.ts'
import { agentEvents } from '../../src/domain/agent/events.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const later = '2026-01-02T00:00:00.000Z'

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

t.test('every event it handles was given', async (t) => handlesAll(t, agents))

t.test(
  'an agent that names no keyword tools and limits has none, one that does has them',
  async (t) => {
    const seen = projecting(t, agents, 'squad-org-1_org-1')
    const {
      keywordTools: _,
      limits: __,
      ...data
    } = agentEvents.AgentCreated.parse(sample('AgentCreated').data)
    const agentId = 'agent-1'
    seen({ type: 'AgentCreated', data: { ...data, agentId } }).shows({
      keyword_tools: undefined,
      limits: undefined,
    })
    const named = { ...data, agentId, keywordTools: false, limits: { steps: 3 } }
    seen({ type: 'AgentCreated', data: named }).shows({
      keyword_tools: false,
      limits: { max_steps: 3 },
    })
  },
)

for (const [stored, limits] of [
  [{ steps: 3 }, { max_steps: 3 }],
  [{ tokens: 4 }, { max_tokens: 4 }],
  [{ charge: 1_500_000 }, { max_credits: 1.5 }],
  [{ seconds: 5 }, { max_seconds: 5 }],
  [{}, {}],
  [null, null],
] as const)
  t.test(`limits ${JSON.stringify(stored)} are shown, and read as they were`, async (t) => {
    t.strictSame(limitsIn(limits), stored)
    const { limits: _, ...data } = agentEvents.AgentCreated.parse(sample('AgentCreated').data)
    const created = { type: 'AgentCreated', data: { ...data, limits: stored } } as const
    projecting(t, agents, 'squad-org-1_org-1')(created).shows({ limits })
  })

t.test('an agent has tools and servers where it names one', async (t) => {
  const { tools, mcpServers, ...data } = agentEvents.AgentCreated.parse(sample('AgentCreated').data)
  const seen = projecting(t, agents, 'squad-org-1_org-1')
  const none = {
    type: 'AgentCreated' as const,
    data: { ...data, tools: [], mcpServers: [] },
  }
  seen(none).shows({ has_tools: false, has_mcp: false })
  const some = { type: 'AgentCreated', data: { ...data, tools, mcpServers } } as const
  seen(some).shows({ has_tools: true, has_mcp: true })
  seen(none, { type: 'AgentChanged', data: { agentId: data.agentId, tools, mcpServers } }).shows({
    has_tools: true,
    has_mcp: true,
  })
})
