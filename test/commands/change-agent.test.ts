import t from 'tap'
import { commanding } from '../support/commanding.ts'

const { changeAgent, createAgent, appendedOnce, organization } = await commanding(t)

t.test('only what differs is stored', async (t) => {
  const { by } = await organization()
  const { agentId } = await createAgent({ name: 'Guide', instruction: 'Help.' }, by)
  const change = { name: 'Guide', instruction: 'Guide.', isActive: undefined }
  const events = await appendedOnce(t, (call) => changeAgent({ agentId, change }, call), by)
  t.strictSame(
    events.map(({ type, data }) => ({ type, data })),
    [{ type: 'AgentChanged', data: { agentId, instruction: 'Guide.' } }],
  )
})

t.test(
  'a model that is taken away is the default one, whatever that is when a turn runs',
  async (t) => {
    const { by } = await organization()
    const { agentId } = await createAgent({ name: 'Guide', model: 'other/model' }, by)
    const [event] = await appendedOnce(
      t,
      (call) => changeAgent({ agentId, change: { model: null } }, call),
      by,
    )
    t.match(event, { data: { model: null } })
  },
)

t.test('refusals', async (t) => {
  const { by, orchestratorAgentId } = await organization()
  const { agentId } = await createAgent({ name: 'Guide' }, by)
  const change = (agentId: string, change: object) => changeAgent({ agentId, change }, by)
  await t.rejects(change('none', {}), { code: 'agent_not_found' })
  await t.rejects(change(orchestratorAgentId, { isActive: false }), {
    code: 'orchestrator_required',
  })
  await t.rejects(change(agentId, { subAgents: ['none'] }), { code: 'unknown_sub_agent' })
  await t.rejects(change(agentId, { subAgents: [agentId] }), { code: 'agent_cycle' })
  const nowhere = { ...by, organizationId: 'nowhere' }
  await t.rejects(changeAgent({ agentId, change: {} }, nowhere), { code: 'organization_not_found' })
})
