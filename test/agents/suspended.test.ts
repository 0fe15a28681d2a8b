import t from 'tap'
import type { AgentConfig } from '../../src/agents/agent.ts'
import { type Suspended, suspended } from '../../src/agents/suspended.ts'
import type { AgentTurn, ClientTools } from '../../src/agents/turn.ts'
import type { ModelEvent, ModelRequest } from '../../src/ports/model.ts'
import { agentNamed, toolNamed } from '../support/agents.ts'
import { calls, endOf, outline, says, speaker, stageScene, tokensOf } from '../support/scene.ts'

const offered = (names: readonly string[] = ['ask']): ClientTools => {
  let ids = 0
  const specs = names.map((name) => ({
    name,
    description: '',
    parameters: { type: 'object' },
    client: true as const,
  }))
  return { specs, callId: () => `call-${ids++}` }
}

/** What is stored between two turns, as it is read again. */
const stored = (from: Suspended | undefined) => suspended.parse(JSON.parse(JSON.stringify(from)))

/** What the client answered to an agent so far. */
const answersIn = ({ messages }: ModelRequest) =>
  messages.flatMap((message) =>
    message.role === 'tool' && message.name === 'ask' ? [message.content] : [],
  )

/** Every agent asks the client as often as given, then says what it was answered. */
const clientCalls =
  (times: Readonly<Record<string, number>>) =>
  (request: ModelRequest): ModelEvent[] => {
    const name = speaker(request) ?? ''
    const answers = answersIn(request)
    return answers.length < (times[name] ?? 0)
      ? [{ type: 'text', text: `${name} asks.` }, ...calls(['ask', `{"by":"${name}"}`])]
      : says(`${name} heard ${answers.join(' and ') || 'nothing'}.`)
  }

const scene = (agents: AgentConfig[], times: Readonly<Record<string, number>>) => {
  const { all, requests } = stageScene({ agents, script: clientCalls(times) })
  const clientTools = offered()
  const turn = async (more: Partial<AgentTurn> = {}) => {
    const events = await all('Hi', { clientTools, ...more })
    return { events, end: endOf(events) }
  }
  return {
    requests,
    start: turn,
    /** Answers every open call with its id. */
    goOn: ({ end }: Awaited<ReturnType<typeof turn>>) => {
      const ids = end.tool_calls?.map(({ id }) => id) ?? []
      const results = new Map(ids.map((id) => [id, `answer to ${id}`]))
      return turn({ resume: { from: stored(end.suspended), results } })
    },
  }
}

t.test('a call ends the turn, and its result resumes it', async (t) => {
  const { start, goOn, requests } = scene([agentNamed('Solo')], { Solo: 2 })
  const first = await start()
  t.match(first.end, {
    text: 'Solo asks.',
    finish_reason: 'tool_calls',
    tool_calls: [{ id: 'call-0', name: 'ask', arguments: '{"by":"Solo"}' }],
    waits: true,
  })
  t.match(outline(first.events).at(-2), 'agent_completed Solo')
  t.notOk(JSON.stringify(first.events.slice(0, -1)).includes('suspended'), 'kept by nobody else')
  const second = await goOn(first)
  t.match(second.end, { text: 'Solo asks.', tool_calls: [{ id: 'call-1' }] })
  const third = await goOn(second)
  t.match(third.end, {
    text: 'Solo heard answer to call-0 and answer to call-1.',
    finish_reason: 'stop',
  })
  t.equal(third.end.suspended, undefined)
  t.match(
    requests.at(-1)?.messages.map(({ role }) => role),
    ['system', 'user', 'assistant', 'tool', 'assistant', 'tool'],
  )
})

t.test('tools of both kinds in one answer: the agent’s own run first', async (t) => {
  const agents = [agentNamed('Both', { toolNames: ['own'] })]
  const { all, requests } = stageScene({
    agents,
    tools: [toolNamed('own', async () => ({ ok: true, content: 'own result' }))],
    script: ({ messages }) =>
      messages.at(-1)?.role === 'tool' ? says('Done.') : calls(['ask', '{}'], ['own', '{}']),
  })
  const clientTools = offered()
  const first = await all('Hi', { clientTools })
  t.match(outline(first).slice(-4), ['tool_started', 'tool_completed', /agent_completed/, /done/])
  const { suspended: from, tool_calls } = endOf(first)
  t.strictSame(tool_calls, [{ id: 'call-0', name: 'ask', arguments: '{}' }])
  const results = new Map([['call-0', 'client result']])
  await all('Hi', { clientTools, resume: { from: stored(from), results } })
  t.match(requests.at(-1)?.messages.slice(-3), [
    { role: 'assistant', toolCalls: [{ name: 'ask' }, { name: 'own' }] },
    { role: 'tool', toolCallId: 'c1', content: 'own result' },
    { role: 'tool', toolCallId: 'c0', content: 'client result' },
  ])
})

t.test(
  'in a sequence, the agents after it wait, and those before are not asked again',
  async (t) => {
    const agents = [
      agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['one', 'two', 'three'] }),
      agentNamed('One', { outputKey: 'draft' }),
      agentNamed('Two'),
      agentNamed('Three', { instruction: 'You are Three. Improve {draft}.' }),
    ]
    const { start, goOn, requests } = scene(agents, { Two: 1 })
    const first = await start()
    t.equal(first.end.text, 'One heard nothing.\n\nTwo asks.')
    const second = await goOn(first)
    t.equal(second.end.text, 'Two heard answer to call-0.\n\nThree heard nothing.')
    t.equal(tokensOf(second.events), second.end.text)
    t.equal(requests.length, 4)
    t.match(
      requests.at(-1)?.messages[0]?.content,
      /Improve One heard nothing\.\.\n\n.*\nTwo:\nTwo asks\.\n\nTwo heard/s,
    )
  },
)

t.test('in parallel, all calls are open at once', async (t) => {
  const agents = [
    agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'middle', 'right'] }),
    ...['Left', 'Middle', 'Right'].map((name) => agentNamed(name)),
  ]
  const { start, goOn, requests } = scene(agents, { Left: 1, Right: 2 })
  const first = await start()
  t.equal(first.end.tool_calls?.length, 2)
  t.equal(
    first.end.text,
    'Left:\nLeft asks.\n\nMiddle:\nMiddle heard nothing.\n\nRight:\nRight asks.',
  )
  const second = await goOn(first)
  t.match(second.end, { tool_calls: [{ name: 'ask' }], finish_reason: 'tool_calls' })
  t.match(second.end.text, /^Left:\nLeft heard .*\n\nRight:\nRight asks\.$/)
  const third = await goOn(second)
  t.match(third.end.text, /^Right:\nRight heard .* and .*$/)
  t.equal(third.end.finish_reason, 'stop')
  t.equal(requests.length, 6, 'no branch is asked again')
})

t.test('below a transfer, and in a loop', async (t) => {
  const agents = [
    agentNamed('Root', { subAgents: ['loop'] }),
    agentNamed('Loop', { agentType: 'LOOP_AGENT', subAgents: ['worker'], maxIterations: 2 }),
    agentNamed('Worker'),
  ]
  const script = clientCalls({ Worker: 1 })
  const { all } = stageScene({
    agents,
    script: (request) =>
      speaker(request) === 'Root'
        ? calls(['transfer_to_agent', '{"agent_name":"Loop"}'])
        : script(request),
  })
  const clientTools = offered()
  let end = endOf(await all('Hi', { clientTools }))
  t.match(end, { text: 'Worker asks.', waits: true })
  const goOn = async () => {
    const results = new Map(end.tool_calls?.map(({ id }) => [id, 'so']))
    const events = await all('Hi', {
      clientTools,
      resume: { from: stored(end.suspended), results },
    })
    t.match(outline(events).slice(0, 3), [
      'agent_started Root',
      'agent_routing',
      'agent_started Loop',
    ])
    return endOf(events)
  }
  end = await goOn()
  t.match(end, { text: 'Worker heard so.\n\nWorker asks.', waits: true }, 'the second iteration')
  end = await goOn()
  t.match(end, { text: 'Worker heard so.', finish_reason: 'stop' })
})

t.test('a transfer beside a call of the client is not made', async (t) => {
  const agents = [agentNamed('Root', { subAgents: ['other'] }), agentNamed('Other')]
  const { all, requests } = stageScene({
    agents,
    script: ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? says('Done.')
        : calls(['transfer_to_agent', '{"agent_name":"Other"}'], ['ask', '{}']),
  })
  const clientTools = offered()
  const { suspended: from, tool_calls } = endOf(await all('Hi', { clientTools }))
  t.equal(tool_calls?.length, 1)
  await all('Hi', { clientTools, resume: { from: stored(from), results: new Map() } })
  t.match(requests.at(-1)?.messages.at(-2), { role: 'tool', content: /^Error: the other calls/ })
})

t.test('agents that have changed meanwhile end the turn', async (t) => {
  const agents = [
    agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['one'] }),
    agentNamed('One'),
  ]
  const { start } = scene(agents, { One: 1 })
  const { end } = await start()
  const resume = { from: stored(end.suspended), results: new Map<string, string>() }
  for (const changed of [
    [agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['two'] }), agentNamed('Two')],
    [agentNamed('Line')],
    [agentNamed('Line', { agentType: 'PARALLEL_AGENT', subAgents: ['one'] }), agentNamed('One')],
    [agentNamed('Fresh')],
  ])
    await t.rejects(
      stageScene({ agents: changed, script: () => says('Hm') }).all('Hi', { resume }),
      {
        name: 'AgentFault',
      },
    )
})

t.test('a name that an agent has is refused when the agent runs', async (t) => {
  const { all } = stageScene({
    agents: [agentNamed('Taken', { toolNames: ['ask'] })],
    tools: [toolNamed('ask', async () => ({ ok: true, content: '' }))],
    script: () => says('Hm'),
  })
  await t.rejects(all('Hi', { clientTools: offered() }), { name: 'ToolNameTaken' })
})

t.test('the tools of the client are offered to the model, but not in its last round', async (t) => {
  const { all, requests } = stageScene({
    agents: [agentNamed('Solo', { toolNames: ['own'] })],
    tools: [toolNamed('own', async () => ({ ok: true, content: '' }))],
    limits: { rounds: 2 },
    script: () => calls(['own', '{}']),
  })
  const clientTools: ClientTools = { ...offered(), choice: 'required', parallel: false }
  await all('Hi', { clientTools })
  t.match(requests[0], {
    tools: [{ name: 'own' }, { name: 'ask', client: true }],
    toolChoice: 'required',
    parallelToolCalls: false,
  })
  const keys = Object.keys(requests[1] ?? {})
  t.notOk(keys.includes('tools') || keys.includes('toolChoice'))
})

t.test('words of an answer call nothing where the client has tools of its own', async (t) => {
  const { all } = stageScene({ agents: [agentNamed('Solo')], script: () => says('Goodbye') })
  t.equal(endOf(await all('Hi', { clientTools: offered() })).finish_reason, 'stop')
  t.equal(endOf(await all('Hi')).finish_reason, 'tool_calls')
})
