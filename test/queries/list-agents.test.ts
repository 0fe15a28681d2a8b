import t, { type Test } from 'tap'
import { findAgentTool, listAgentTools } from '../../queries/list-agent-tools.ts'
import { listAgents } from '../../queries/list-agents.ts'
import { listManagementAgents } from '../../queries/list-management-agents.ts'
import { listModels } from '../../queries/list-models.ts'
import { listWholeAgents } from '../../queries/list-whole-agents.ts'
import { commanded } from '../support/commanded.ts'
import { countedView } from '../support/counted-view.ts'
import { call, platformCall } from '../support/recorded.ts'

/** An organization with many agents of 90 kB, and views that count. */
const scene = async (t: Test, many: number) => {
  const { createOrganization, createAgent, read, seen } = await commanded(t)
  const owner = { email: 'owner@example.com' }
  const { organizationId } = await createOrganization({ name: 'Acme', owner }, platformCall)
  const parameters = { type: 'object', description: 'p'.repeat(26_000) }
  const tool = {
    type: 'api_call',
    name: 'look',
    description: '',
    method: 'GET',
    url: 'https://api.example',
    headers: { Authorization: '{{credential:SHOP}}' },
    parameters,
  } as const
  const instruction = 'i'.repeat(64_000)
  for (let n = 0; n < many; n++)
    await createAgent(
      { name: `Agent ${n}`, instruction, tools: [tool] },
      { ...call, organizationId },
    )
  await seen()
  return { organizationId, read }
}

t.test('lists of agents read no configuration', async (t) => {
  const many = 250
  const { organizationId, read } = await scene(t, many)
  const { view, reads } = countedView(read.agentSummaries)
  const uses = { agentSummaries: view, organizations: read.organizations }
  const lists = {
    agents: () => listAgents({ summaries: view, defaultModel: 'any' })(organizationId, {}),
    models: () => listModels(uses)(organizationId),
    squads: () => listManagementAgents(uses)(organizationId),
  }
  for (const [name, list] of Object.entries(lists)) {
    await list()
    const { documents, characters } = reads()
    t.equal(documents, many + 1, `${name}: each agent once`)
    t.ok(characters < 1_000 * documents, `${name}: ${characters} characters`)
  }
  const { agents, total } = await lists.agents()
  t.equal(agents.length, total)
  t.strictSame(
    agents.map(({ name }) => name),
    ['Orchestrator', ...Array.from({ length: many }, (_, n) => `Agent ${n}`)],
    'the oldest first',
  )
})

t.test('lists tools a page at a time, and finds one by a look-up', async (t) => {
  const many = 250
  const { organizationId, read } = await scene(t, many)
  const { view, reads } = countedView(read.agentSummaries)
  const list = listAgentTools({ summaries: view })
  const first = await list(organizationId, undefined)
  const rest = await list(organizationId, first.next)
  t.strictSame([first.agents.length, rest.agents.length, rest.next], [200, many - 199, undefined])
  const ids = [...first.agents, ...rest.agents].map(({ agent_id }) => agent_id)
  t.strictSame(ids, [...new Set(ids)].toSorted())
  reads()
  const [id = ''] = ids
  t.equal((await findAgentTool({ summaries: view })(organizationId, id.slice(-12)))?.agent_id, id)
  t.equal(await findAgentTool({ summaries: view })(organizationId, 'f'.repeat(12)), undefined)
  t.equal(await findAgentTool({ summaries: view })('another', id.slice(-12)), undefined)
  t.equal(reads().documents, 1)
})

t.test('a page of whole agents ends at 8 MB, and later pages have the rest', async (t) => {
  const many = 119
  const { organizationId, read } = await scene(t, many)
  const { view, reads } = countedView(read.agents)
  const list = listWholeAgents({ agents: view, agentSummaries: read.agentSummaries })
  const ids: string[] = []
  for (let page = { page: 1, pageSize: 200 }, more = true; more; ) {
    const { agents, total, has_next, ...at } = await list(organizationId, page)
    t.ok(reads().characters < 9.5 * 1024 * 1024)
    t.equal(total, many + 1)
    ids.push(...agents.map(({ agent_id }) => agent_id))
    page = { page: at.page + 1, pageSize: at.page_size }
    more = has_next
  }
  t.equal(new Set(ids).size, many + 1)
  t.equal(ids.length, many + 1)
})
