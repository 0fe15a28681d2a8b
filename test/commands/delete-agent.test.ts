import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { createAgent, deleteAgent, appendedOnce, organization } = await commanding(t)

t.test('an agent is gone', async (t) => {
  const { by } = await organization()
  const { agentId } = await createAgent({ name: 'Guide' }, by)
  const events = await appendedOnce(t, (call) => deleteAgent({ agentId }, call), by)
  t.match(events, [{ type: 'AgentDeleted', data: { agentId } }])
})

t.test('refusals', async (t) => {
  const { by, orchestratorAgentId } = await organization()
  const { agentId } = await createAgent({ name: 'Below' }, by)
  const above = await createAgent({ name: 'Above', subAgents: [agentId] }, by)
  await t.rejects(deleteAgent({ agentId }, by), {
    code: 'agent_in_use',
    facts: { agents: [{ agentId: above.agentId, name: 'Above' }] },
  })
  await t.rejects(deleteAgent({ agentId: 'none' }, by), { code: 'agent_not_found' })
  await t.rejects(deleteAgent({ agentId: orchestratorAgentId }, by), {
    code: 'orchestrator_required',
  })
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(deleteAgent({ agentId }, nowhere), { code: 'organization_not_found' })
})
