import t from 'tap'
import type { AgentSummary } from '../../../projections/agent-summaries.ts'
import { toolsPage } from '../../../src/http/mcp/agent-tools.ts'

t.test('a long description of a tool is cut between grapheme clusters', async (t) => {
  const agent = {
    agent_id: '0199f1c1-0000-7000-8000-0123456789ab',
    name: 'Aide',
    description: `a${'🇩🇪'.repeat(300)}`,
  } as AgentSummary
  const { tools } = toolsPage({ agents: [agent], next: undefined })
  t.equal(tools[0]?.description, `a${'🇩🇪'.repeat(255)}`)
})
