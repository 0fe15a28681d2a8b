import t from 'tap'
import { checkDraft as checkDraftOf } from '../../commands/check-draft.ts'
import { commanding } from '../support/commanding.ts'

const { clock, createAgent, load, organization } = await commanding(t)
const checkDraft = checkDraftOf({ load, clock, modelFault: () => undefined })

t.test('a draft of a new agent is the agent that creating it would make', async (t) => {
  const { by } = await organization()
  const draft = await checkDraft({ kind: 'new', settings: { name: 'Guide', maxTokens: 5 } }, by)
  t.match(draft, {
    agentId: String,
    name: 'Guide',
    agentType: 'LLM_AGENT',
    maxTokens: 5,
    tools: [],
  })
  const again = { kind: 'change', agentId: draft.agentId, change: {} } as const
  await t.rejects(checkDraft(again, by), { code: 'agent_not_found' })
})

t.test('a draft of an agent has its other settings, and changes none', async (t) => {
  const { by } = await organization()
  const { agentId } = await createAgent({ name: 'Guide', instruction: 'Guide.' }, by)
  const change = { kind: 'change', agentId, change: { name: 'Leader' } } as const
  t.match(await checkDraft(change, by), { agentId, name: 'Leader', instruction: 'Guide.' })
  const same = { kind: 'change', agentId, change: {} } as const
  t.match(await checkDraft(same, by), { agentId, name: 'Guide' })
})

t.test('a draft is refused where saving it would be', async (t) => {
  const { by } = await organization()
  const other = await organization()
  const { agentId } = await createAgent({ name: 'Guide' }, by)
  const change = (subAgents: string[]) =>
    ({ kind: 'change', agentId, change: { subAgents } }) as const
  await t.rejects(checkDraft(change([agentId]), by), { code: 'agent_cycle' })
  await t.rejects(checkDraft(change(['none']), by), { code: 'unknown_sub_agent' })
  await t.rejects(checkDraft(change([]), other.by), { code: 'agent_not_found' })
  const large = { name: 'Large', instruction: 'x'.repeat(100_001) }
  await t.rejects(checkDraft({ kind: 'new', settings: large }, by), { code: 'too_complex' })
  const nowhere = { ...by, organizationId: 'nowhere' }
  const draft = { kind: 'new', settings: { name: 'Guide' } } as const
  await t.rejects(checkDraft(draft, nowhere), { code: 'organization_not_found' })
})
