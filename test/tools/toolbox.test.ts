import { firstValueFrom } from 'rxjs'
import t, { type Test } from 'tap'
import { findCredential } from '../../queries/find-credential.ts'
import { recallMemories } from '../../queries/recall-memories.ts'
import { guardedOutbound } from '../../src/adapters/outbound/guarded.ts'
import type { AgentConfig } from '../../src/agents/agent.ts'
import type { Tool } from '../../src/agents/tool.ts'
import { refusal } from '../../src/domain/refusal.ts'
import { consentedHosts } from '../../src/event-sourcing/consented-hosts.ts'
import type { Call } from '../../src/ports/call.ts'
import type { ContentGeneration } from '../../src/ports/content-generation.ts'
import type { Knowledge } from '../../src/ports/knowledge.ts'
import { jsonSchemas } from '../../src/tools/json-schemas.ts'
import { toolbox } from '../../src/tools/toolbox.ts'
import { agentNamed, turnOf } from '../support/agents.ts'
import { commanded } from '../support/commanded.ts'
import { mcpServer } from '../support/mcp-server.ts'
import { call } from '../support/recorded.ts'
import { resultOf } from '../support/tools.ts'

type Ports = { knowledge?: Knowledge; contentGeneration?: ContentGeneration }

/** The tools of a host on stores of its own. */
const boxed = async (t: Test, ports: Ports = {}) => {
  const host = await commanded(t)
  const { open } = host.vault
  const outbound = guardedOutbound({ allowHosts: ['127.0.0.1'] })
  const schemas = jsonSchemas()
  const box = toolbox({
    misfitOf: schemas.misfitOf,
    outbound,
    findCredential: findCredential({
      ...host.read,
      hostsOf: consentedHosts(host.store.read),
      open,
    }),
    remember: host.remember,
    recallMemories: recallMemories({ ...host.read, open }),
    clock: host.clock,
    ...ports,
  })
  t.teardown(async () => {
    await box.close()
    await schemas.close()
    await outbound.close()
  })
  const toolsOf = async (config: Partial<AgentConfig>): Promise<readonly Tool[]> => {
    const agent = agentNamed('Solo', config)
    return firstValueFrom(box.toolsOf(agent, turnOf(agent, 'Hi', { call })))
  }
  return { ...host, box, toolsOf }
}

const namesOf = (tools: readonly Tool[]) => tools.map(({ spec }) => spec.name)

const named = (tools: readonly Tool[], name: string): Tool => {
  const tool = tools.find(({ spec }) => spec.name === name)
  if (!tool) throw new Error(`there is no tool ${name}`)
  return tool
}

const apiCall = (name: string) => ({
  type: 'api_call' as const,
  name,
  description: '',
  method: 'GET',
  url: 'https://api.invalid/',
  headers: {},
  parameters: {},
})

t.test('an agent has the tools it is configured with, where they are there', async (t) => {
  const { box, toolsOf } = await boxed(t)
  const tools = [
    'remember',
    'recall',
    'search_knowledge',
    'generate_content',
    'end_call',
    'transfer_call',
    apiCall('weather'),
  ] as const
  t.strictSame(namesOf(await toolsOf({ tools: [...tools], datastoreIds: ['store-1'] })), [
    'remember',
    'recall',
    'weather',
  ])
  t.strictSame(await toolsOf({}), [])
  const agent = agentNamed('Solo', { tools: ['recall'] })
  let names: string[] = []
  box.toolsOf(agent, turnOf(agent, 'Hi')).subscribe((known) => {
    names = namesOf(known)
  })
  t.strictSame(names, ['recall'], 'at once')
})

t.test('a built-in tool may wait for approval, and keeps what it does', async (t) => {
  const { toolsOf } = await boxed(t)
  const [plain] = await toolsOf({ tools: ['remember'] })
  t.strictSame(plain?.policy, { effect: 'write', keyed: true, onUnknown: 'tell' })
  const [approvable] = await toolsOf({
    tools: [{ type: 'remember', requiresApproval: true, approvalTtl: 60 }],
  })
  t.match(approvable?.policy, {
    effect: 'write',
    keyed: true,
    onUnknown: 'tell',
    approval: { approver: 'user', ttlSeconds: 60 },
  })
  t.match(approvable?.definition?.(), /^[\da-f]{64}$/)
  t.equal(approvable?.definition?.(), plain?.definition?.(), 'also once it needs no approval')
})

t.test('memories are those of whom the turn is for', async (t) => {
  const { toolsOf, seen } = await boxed(t)
  const tools = await toolsOf({ tools: ['remember', 'recall'] })
  const remember = (text: string, by: Call) =>
    resultOf(named(tools, 'remember'), { text }, { call: by })
  const recall = async (by: Call) => {
    await seen()
    const { content } = await resultOf(named(tools, 'recall'), { query: 'colour' }, { call: by })
    return JSON.parse(content).memories
  }
  const delegated = { ...call, onBehalfOf: 'user-2' }
  const elsewhere = { ...call, organizationId: 'org-2' }
  t.strictSame(await remember('The colour is red', call), { ok: true, content: 'Remembered.' })
  t.strictSame(await remember('the colour is  red', call), {
    ok: true,
    content: 'This was remembered before.',
  })
  await remember('The colour is blue', delegated)
  await remember('The colour is green', elsewhere)
  t.strictSame(await recall(call), ['The colour is red'])
  t.strictSame(await recall(delegated), ['The colour is blue'])
  t.strictSame(await recall({ ...call, userId: 'user-2' }), ['The colour is blue'])
  t.strictSame(await recall(elsewhere), ['The colour is green'])
  t.strictSame(await recall({ ...elsewhere, onBehalfOf: 'user-2' }), [])
  t.strictSame(await recall({ ...call, userId: null }), [])
  t.match(await remember('Nobody', { ...call, userId: null }), { ok: false })
})

t.test('arguments that do not fit are told', async (t) => {
  const { toolsOf } = await boxed(t)
  const tools = await toolsOf({ tools: ['remember', 'recall'] })
  for (const args of [{}, { text: 7 }, { text: ' ' }, { text: 'x'.repeat(2_001) }])
    t.match(await resultOf(named(tools, 'remember'), args), { ok: false, content: /^text: / })
  t.match(await resultOf(named(tools, 'recall'), {}), { ok: true, content: '{"memories":[]}' })
})

t.test("the knowledge of the agent's own DataStores", async (t) => {
  const questions: unknown[] = []
  const knowledge: Knowledge = {
    search: async (...question) => {
      questions.push(question)
      const passage = { upload_id: 'u-1', chunk: 3, place: 'page 2', score: 1.5 }
      return [{ ...passage, filename: 'handbook.md', text: 'Tea is at four.' }]
    },
  }
  const { toolsOf } = await boxed(t, { knowledge })
  t.strictSame(await toolsOf({ tools: ['search_knowledge'] }), [])
  const tools = await toolsOf({ datastoreIds: ['store-1'] })
  t.match(await resultOf(named(tools, 'search_knowledge'), { query: 'tea' }), {
    ok: true,
    content: '{"results":[{"filename":"handbook.md","place":"page 2","text":"Tea is at four."}]}',
  })
  t.strictSame(questions, [['org-1', ['store-1'], 'tea', 5]])
})

t.test('content is asked for', async (t) => {
  const contentGeneration: ContentGeneration = {
    request: async ({ contentType }) => {
      if (contentType === 'video') throw refusal('insufficient_credits')
      return { id: 'content-1', content_type: contentType, status: 'pending' }
    },
  }
  const { toolsOf } = await boxed(t, { contentGeneration })
  const [tool] = await toolsOf({ tools: ['generate_content'] })
  const request = (content_type: string) =>
    tool && resultOf(tool, { prompt: 'A fox', content_type })
  t.match(await request('image'), {
    ok: true,
    content: '{"id":"content-1","content_type":"image","status":"pending"}',
  })
  t.match(await request('video'), { ok: false, content: 'Not enough credits' })
  t.match(await request('poem'), { ok: false, content: /^content_type: / })
})

t.test('no two tools have one name', async (t) => {
  const server = await mcpServer(t)
  const { toolsOf } = await boxed(t)
  const own = ['remember', apiCall('add'), apiCall('add'), apiCall('transfer_to_agent')] as const
  const mcpServers = ['one', 'two'].map((name) => ({ name, url: server.url, headers: {} }))
  const tools = await toolsOf({ tools: [...own], mcpServers })
  const names = namesOf(tools)
  t.equal(new Set(names).size, names.length)
  t.strictSame(names.slice(0, 3), ['remember', 'add', 'one_add'])
  for (const name of ['whoami', 'one_remember', 'two_remember', 'two_add', 'two_whoami'])
    t.ok(names.includes(name), name)
  t.notOk(names.includes('transfer_to_agent'))
  t.match(await resultOf(named(tools, 'two_add'), { a: 2, b: 2 }), { ok: true, content: '4' })
})

t.test('a third tool of one name gets a digest in its name', async (t) => {
  const server = await mcpServer(t)
  const other = await mcpServer(t)
  const { toolsOf } = await boxed(t)
  const mcpServers = [server, other, server, other].map(({ url }, n) => ({
    name: n < 2 ? 'one' : 'one.',
    url: `${url}/${n}`,
    headers: {},
  }))
  const names = namesOf(await toolsOf({ mcpServers }))
  t.equal(new Set(names).size, names.length)
  const adds = names.filter((name) => /add/.test(name))
  t.match(adds, ['add', 'one_add', 'one__add', /^one__add_[\da-f]{8}$/])
  t.equal(adds.length, 4, 'none is missing')
  t.strictSame(namesOf(await toolsOf({ mcpServers })), names, 'the same each time')
})
