import t from 'tap'
import { organizationAgents } from '../../../src/domain/agent/organization-agents.ts'
import { evolved } from '../../../src/domain/aggregate.ts'
import { configured } from '../../support/configured.ts'

t.test('agents weigh the characters of their JSON, as last changed', async (t) => {
  const large = { type: 'api_call', description: 'x'.repeat(90_000) }
  const first = configured('First', { instruction: 'x'.repeat(1_000) })
  const second = { ...first, name: 'Second', tools: [large] as unknown as typeof first.tools }
  const created = [
    { type: 'AgentCreated' as const, data: { agentId: 'a', ...first } },
    { type: 'AgentCreated' as const, data: { agentId: 'b', ...second } },
  ]
  const { initial } = organizationAgents
  const weightAfter = (
    events: Parameters<typeof evolved<typeof initial, typeof organizationAgents.events>>[2],
  ) => organizationAgents.weigh?.(evolved(organizationAgents, initial, events))
  const [firstLength, secondLength] = [first, second].map(
    (agent) => JSON.stringify(agent).length,
  ) as [number, number]
  t.equal(weightAfter([]), 0)
  t.equal(weightAfter(created), firstLength + secondLength)
  t.ok(secondLength > 90_000, 'tools count in full')
  const shorter = { type: 'AgentChanged' as const, data: { agentId: 'a', instruction: 'xy' } }
  t.equal(weightAfter([...created, shorter]), firstLength + secondLength - 998)
  t.equal(weightAfter([...created, { type: 'AgentDeleted', data: { agentId: 'b' } }]), firstLength)
})
