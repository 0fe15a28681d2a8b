import t from 'tap'
import { organizationAgents } from '../../../src/domain/agent/organization-agents.ts'
import { configured } from '../../support/configured.ts'

t.test('agents weigh 500, their instruction, and 500 for each tool', async (t) => {
  const { weigh } = organizationAgents
  const agent = (name: string, instruction: string) => configured(name, { instruction })
  const one = agent('One', 'x'.repeat(1_000))
  const tools = [{ type: 'rag_search' }, { type: 'rag_search' }] as unknown as typeof one.tools
  t.equal(weigh?.({ agents: {} }), 0)
  t.equal(weigh?.({ agents: { one } }), 1_500)
  t.equal(weigh?.({ agents: { one: { ...one, tools } } }), 2_500)
  t.equal(weigh?.({ agents: { one, two: agent('Two', 'xy') } }), 2_002)
})
