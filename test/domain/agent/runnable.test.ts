import t from 'tap'
import { requireActive, requireCallable } from '../../../src/domain/agent/runnable.ts'

const agent = { isActive: true, agentType: 'LLM_AGENT' } as const

t.test('turns are given to active agents', async (t) => {
  t.equal(requireActive(agent), agent)
  t.throws(() => requireActive(undefined), { code: 'agent_not_found' })
  t.throws(() => requireActive({ ...agent, isActive: false }), { code: 'agent_inactive' })
})

t.test('clients call LLM agents only', async (t) => {
  t.equal(requireCallable(agent), agent)
  t.throws(() => requireCallable(undefined), { code: 'agent_not_found' })
  const container = { isActive: true, agentType: 'LOOP_AGENT' } as const
  t.throws(() => requireCallable(container), { code: 'invalid_agent_type' })
  t.throws(() => requireCallable({ ...container, isActive: false }), { code: 'agent_inactive' })
})
