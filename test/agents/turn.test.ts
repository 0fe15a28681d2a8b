import { lastValueFrom, toArray } from 'rxjs'
import t, { type Test } from 'tap'
import { type ModelsConfig, modelsFrom } from '../../src/adapters/models/registry.ts'
import type { AgentConfig } from '../../src/agents/agent.ts'
import type { AgentEvent } from '../../src/agents/agent-event.ts'
import { agentRuntime } from '../../src/agents/agent-runtime.ts'
import type { Tool } from '../../src/agents/tool.ts'
import { agentNamed, byId, hostOf, toolNamed, turnOf } from '../support/agents.ts'
import { providerDouble, type Reply } from '../support/provider-double.ts'

const search = toolNamed('search_knowledge', async ({ query }) => {
  const results =
    query === 'What is the warranty?' ? [{ filename: 'terms.md', text: 'Two years.' }] : []
  return { ok: true, content: JSON.stringify({ results }) }
})

const ask = async (
  agents: readonly AgentConfig[],
  message: string,
  config: ModelsConfig = {},
  tools: readonly Tool[] = [search],
) => {
  const models = modelsFrom(config)
  const [root = agentNamed('Nobody')] = agents
  const run = agentRuntime(hostOf({ tools, models }))
  const events: AgentEvent[] = await lastValueFrom(
    run(turnOf(root, message, { agents: byId(agents) })).pipe(toArray()),
  ).finally(models.close)
  const last = events.at(-1)
  if (last?.event !== 'done') throw new Error('the turn did not end with done')
  return last
}

t.test('offline, all the way', async (t) => {
  const agents = [
    agentNamed('Root', { subAgents: ['support', 'sales'] }),
    agentNamed('Support', {
      description: 'Warranty, repairs and broken devices',
      toolNames: ['search_knowledge'],
    }),
    agentNamed('Sales', { description: 'Prices and offers' }),
  ]
  t.match(await ask(agents, 'What is the warranty?'), {
    agent: 'Support',
    text: 'From the knowledge base:\n\n“Two years.” (terms.md)',
    finish_reason: 'stop',
    charges: [{ model: 'offline/extractive' }],
  })
  t.match(await ask(agents, 'My device is broken'), { text: /nothing about that/ })
  t.match(await ask(agents, 'Any offers?'), { agent: 'Sales', text: /I understood/ })
  t.match(await ask(agents, 'Bye!'), {
    agent: 'Root',
    finish_reason: 'tool_calls',
    tool_calls: [{ name: 'end_call' }],
  })
  t.match(await ask(agents, 'I want to talk to a human'), {
    tool_calls: [{ name: 'transfer_call' }],
  })
})

t.test('over HTTP', async (t) => {
  const setUp = async (t: Test, ...replies: Reply[]) => {
    const provider = await providerDouble()
    t.teardown(provider.close)
    provider.next(...replies)
    const transport = { backOffMs: 1, firstMs: 300, idleMs: 300 }
    return { provider, config: { baseUrl: provider.url, model: 'acme/m', transport } }
  }
  const agents = [agentNamed('Solo', { toolNames: ['search_knowledge'] })]

  t.test('a tool call and its answer', async (t) => {
    const usage = { prompt_tokens: 5, completion_tokens: 1 }
    const { provider, config } = await setUp(
      t,
      {
        calls: [{ name: 'search_knowledge', arguments: { query: 'What is the warranty?' } }],
        usage,
      },
      { text: 'Two years, says terms.md.', usage },
    )
    t.match(await ask(agents, 'Warranty?', config), {
      text: 'Two years, says terms.md.',
      usage: { promptTokens: 10, completionTokens: 2 },
      charges: [{ model: 'acme/m', charge: 45 }],
    })
    t.match(provider.requests[1]?.body.messages.at(-1), {
      role: 'tool',
      content: '{"results":[{"filename":"terms.md","text":"Two years."}]}',
    })
  })

  const failures: [name: string, error: string, replies: Reply[]][] = [
    ['down', 'ModelUnavailable', [{ status: 503 }, { status: 503 }, { status: 503 }]],
    ['cut off in mid-stream', 'ModelUnavailable', [{ text: 'One two three', cutAfter: 2 }]],
    ['never answering', 'ModelTimeout', [{ silent: true }]],
    ['stalling', 'ModelTimeout', [{ text: 'One two three', stallAfter: 2 }]],
    ['sending garbage', 'ModelFault', [{ raw: 'data: {{{\n\n' }]],
    ['refusing', 'ModelMisconfigured', [{ status: 401 }]],
  ]
  for (const [name, error, replies] of failures)
    t.test(`a provider that is ${name} ends the turn`, async (t) => {
      const { config } = await setUp(t, ...replies)
      await t.rejects(ask(agents, 'Hi', config), { name: error })
    })
})
