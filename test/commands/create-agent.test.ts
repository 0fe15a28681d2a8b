import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { createAgent, appendedOnce, organization } = await commanding(t)

t.test('only a name must be given', async (t) => {
  const { by, organizationId } = await organization()
  const events = await appendedOnce(t, (call) => createAgent({ name: 'Guide' }, call), by)
  t.equal(events.length, 1)
  t.match(events[0], {
    type: 'AgentCreated',
    data: {
      name: 'Guide',
      agentType: 'LLM_AGENT',
      model: null,
      isActive: true,
      tools: [],
      subAgents: [],
    },
    stream: `squad-${organizationId}_${organizationId}`,
  })
})

t.test('refusals', async (t) => {
  const { by } = await organization()
  const twin = { name: 'Twin' }
  const { agentId } = await createAgent(twin, { ...by, scope: 'one' })
  const other = await createAgent(twin, { ...by, scope: 'two' })
  const above = (subAgents: string[]) => createAgent({ name: 'Above', subAgents }, by)
  await t.rejects(above(['none']), { code: 'unknown_sub_agent' })
  await t.rejects(above([agentId, other.agentId]), { code: 'agent_name_taken' })
  await t.rejects(createAgent({ name: 'Self', agentId: 'self', subAgents: ['self'] }, by), {
    code: 'agent_cycle',
  })
  await t.rejects(createAgent({ name: 'Large', instruction: 'x'.repeat(100_001) }, by), {
    code: 'too_complex',
  })
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(createAgent(twin, nowhere), { code: 'organization_not_found' })
})
