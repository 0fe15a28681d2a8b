import t from 'tap'
import { callIds } from '../../src/agents/call-ids.ts'
import type { ChatMessage } from '../../src/ports/model.ts'
import { agentNamed, toolNamed } from '../support/agents.ts'
import { calls, endOf, says, speaker, stageScene } from '../support/scene.ts'

const named = (...ids: string[]) => ids.map((id) => ({ id, name: 'now', arguments: '{}' }))
const idsOf = (all: readonly { id: string }[]) => all.map(({ id }) => id)

t.test('a repeated id is made distinct, one that is new is kept', async (t) => {
  const ids = callIds()
  t.strictSame(idsOf(ids.distinct(named('a', 'b', 'a', 'a', 'a_2'), [])), [
    'a',
    'b',
    'a_2',
    'a_3',
    'a_2_2',
  ])
  t.strictSame(idsOf(ids.distinct(named('a', 'c'), [])), ['a_4', 'c'])
  ids.keep(named('d'))
  t.strictSame(idsOf(ids.distinct(named('d'), [])), ['d_2'])
  const messages: ChatMessage[] = [{ role: 'assistant', content: '', toolCalls: named('e') }]
  t.strictSame(idsOf(ids.distinct(named('e'), messages)), ['e_2'])
})

t.test('no call gets an id that was recorded in an earlier attempt, by any branch', async (t) => {
  t.strictSame(idsOf(callIds(['a', 'a_2']).distinct(named('a', 'b'), [])), ['a_3', 'b'])
})

t.test('ten thousand equal ids are made distinct', async (t) => {
  const ids = callIds()
  const all = ids.distinct(named(...Array(10_000).fill('a')), [])
  t.equal(new Set(idsOf(all)).size, 10_000)
  t.equal(all.at(-1)?.id, 'a_10000')
})

const now = toolNamed('now', async () => ({ ok: true, content: 'noon' }))

t.test('calls of several rounds have ids of their own', async (t) => {
  const { all, requests } = stageScene({
    agents: [agentNamed('Solo', { toolNames: ['now'] })],
    tools: [now],
    script: ({ messages }) =>
      messages.filter(({ role }) => role === 'tool').length < 4
        ? calls(['now', '{}'], ['now', '{}'])
        : says('Done'),
  })
  const events = await all()
  t.equal(endOf(events).text, 'Done')
  const messages = requests.at(-1)?.messages ?? []
  const toolCalls = messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  t.strictSame(idsOf(toolCalls), ['c0', 'c1', 'c0_2', 'c1_2'])
  t.strictSame(
    messages.flatMap((message) => (message.role === 'tool' ? message.toolCallId : [])),
    idsOf(toolCalls),
  )
  const started = events.flatMap((event) => (event.event === 'tool_started' ? event.tool_id : []))
  t.strictSame(started, idsOf(toolCalls))
})

t.test('calls of branches side by side have ids of their own', async (t) => {
  const branches = ['Left', 'Right'].map((name) => agentNamed(name, { toolNames: ['now'] }))
  const { all } = stageScene({
    agents: [
      agentNamed('Both', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'right'] }),
      ...branches,
    ],
    tools: [now],
    script: (request) =>
      request.messages.at(-1)?.role === 'tool'
        ? says(speaker(request) ?? '')
        : calls(['now', '{}']),
  })
  const events = await all()
  const started = events.flatMap((event) => (event.event === 'tool_started' ? event.tool_id : []))
  t.equal(started.length, 2)
  t.equal(new Set(started).size, 2)
})

t.test('the calls of an answer that was cut off are not made', async (t) => {
  for (const finishReason of ['length', 'content_filter'] as const) {
    let count = 0
    const counter = toolNamed('count', async () => {
      count++
      return { ok: true, content: 'x' }
    })
    const { all, requests } = stageScene({
      agents: [agentNamed('Solo', { toolNames: ['count'] })],
      tools: [counter],
      script: () => [
        { type: 'text', text: 'Wait' },
        { type: 'tool_call', call: { id: 'a', name: 'count', arguments: '{}' } },
        { type: 'done', finishReason, usage: { promptTokens: 1, completionTokens: 1 } },
      ],
    })
    const events = await all()
    t.match(endOf(events), { text: 'Wait', finish_reason: finishReason })
    t.match(
      events.find(({ event }) => event === 'model_answered'),
      { calls: [] },
    )
    t.equal(count, 0)
    t.equal(requests.length, 1)
  }
})

t.test('a tool is called with an empty object where there are no arguments', async (t) => {
  const given: unknown[] = []
  const note = toolNamed('note', async (args) => {
    given.push(args)
    return { ok: true, content: 'x' }
  })
  const { all } = stageScene({
    agents: [agentNamed('Solo', { toolNames: ['note'] })],
    tools: [note],
    script: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? says('Done')
        : calls(['note', ''], ['note', ' \n'], ['note', 'null'], ['note', '{}']),
  })
  await all()
  t.strictSame(given, [{}, {}, {}, {}])
})
