import { lastValueFrom, NEVER, Observable, of, take, tap, throwError, toArray } from 'rxjs'
import t from 'tap'
import type { AgentConfig } from '../../src/agents/agent.ts'
import type { AgentEvent, TurnDone } from '../../src/agents/agent-event.ts'
import type { Limits, Turn } from '../../src/agents/agent-kind.ts'
import { agentRuntime } from '../../src/agents/agent-runtime.ts'
import { errorPrefix } from '../../src/agents/tool.ts'
import { usageMeter } from '../../src/agents/usage-meter.ts'
import { type ModelEvent, type ModelRequest, ModelUnavailable } from '../../src/ports/model.ts'
import { agentNamed, hostOf, type Script, scripted, toolNamed, turnOf } from '../support/agents.ts'

const done: ModelEvent = {
  type: 'done',
  finishReason: 'stop',
  usage: { promptTokens: 10, completionTokens: 2 },
}
const says = (...words: string[]): ModelEvent[] => [
  ...words.map((text) => ({ type: 'text' as const, text })),
  done,
]
const calls = (...named: [name: string, args: string][]): ModelEvent[] => [
  ...named.map(([name, args], n) => ({
    type: 'tool_call' as const,
    call: { id: `c${n}`, name, arguments: args },
  })),
  { ...done, finishReason: 'tool_calls' },
]

/** The agent that a request is made for, by the name in its instruction. */
const speaker = ({ messages }: ModelRequest) =>
  /You are (\w+)/.exec(messages[0]?.content ?? '')?.[1]

type Tools = NonNullable<Parameters<typeof hostOf>[1]>['tools']
type Scene = { agents: AgentConfig[]; script: Script; tools?: Tools; limits?: Partial<Limits> }

/** Runs turns of the first agent. */
const staged = ({ agents, script, tools = [], limits = {} }: Scene) => {
  const requests: ModelRequest[] = []
  const models = scripted((request) => {
    requests.push(request)
    return script(request)
  })
  const run = agentRuntime({ ...hostOf(agents, { tools, models }), limits })
  const [first = agentNamed('Nobody')] = agents
  const events = (message = 'Hi', more: Partial<Turn> = {}) => run(turnOf(first, message, more))
  return {
    requests,
    events,
    all: (message?: string, more?: Partial<Turn>) =>
      lastValueFrom(events(message, more).pipe(toArray())),
  }
}

const endOf = (events: readonly AgentEvent[]): TurnDone => {
  const last = events.at(-1)
  if (last?.event !== 'done') throw new Error('the turn did not end with done')
  return last
}
const tokensOf = (events: readonly AgentEvent[]) =>
  events.map((event) => (event.event === 'token' ? event.text : '')).join('')
const outline = (events: readonly AgentEvent[]) =>
  events.map((event) => ('agent' in event ? `${event.event} ${event.agent}` : event.event))

t.test('one LLM agent: the whole stream of a turn', async (t) => {
  const { all, requests } = staged({
    agents: [agentNamed('Solo', { temperature: 0.5, maxTokens: 9 })],
    script: () => says('Hello ', 'you'),
  })
  const names = { agent: 'Solo', agent_id: 'solo', step_id: 'id-1' }
  const timestamp = '2026-01-01T00:00:00.000Z'
  const usage = { promptTokens: 10, completionTokens: 2 }
  t.strictSame(await all('Hi', { history: [{ role: 'user', content: 'Before' }] }), [
    {
      event: 'agent_started',
      ...names,
      agent_type: 'LLM_AGENT',
      depth: 0,
      parent_agent: null,
      timestamp,
    },
    {
      event: 'model_called',
      step_id: 'id-1',
      model: 'test/model',
      price: { prompt: 1, completion: 1 },
      prompt_tokens: 8 + 5 + 5,
    },
    { event: 'token', agent: 'Solo', step_id: 'id-1', text: 'Hello ' },
    { event: 'token', agent: 'Solo', step_id: 'id-1', text: 'you' },
    { event: 'model_answered', step_id: 'id-1', model: 'test/model', usage },
    {
      event: 'agent_completed',
      ...names,
      duration_ms: 0,
      usage,
      model: 'test/model',
      answer: {
        text: 'Hello you',
        by: 'Solo',
        finishReason: 'stop',
        outputs: [{ agent: 'Solo', key: null, text: 'Hello you' }],
      },
      timestamp,
    },
    {
      event: 'done',
      text: 'Hello you',
      agent: 'Solo',
      finish_reason: 'stop',
      usage,
      charges: [{ model: 'test/model', usage, charge: 12 }],
    },
  ])
  t.strictSame(requests, [
    {
      model: 'model',
      temperature: 0.5,
      maxTokens: 9,
      messages: [
        { role: 'system', content: 'You are Solo.' },
        { role: 'user', content: 'Before' },
        { role: 'user', content: 'Hi' },
      ],
    },
  ])
  await all('Hi', { temperature: 1 })
  t.equal(requests[1]?.temperature, 1, 'the caller wins over the agent')
})

t.test('keyword tool calls on the answer', async (t) => {
  const { all } = staged({
    agents: [agentNamed('Solo')],
    script: ({ messages }) => says(messages.at(-1)?.content ?? ''),
  })
  t.match(endOf(await all('Well, GOODBYE.')), {
    finish_reason: 'tool_calls',
    tool_calls: [{ id: /^call_/, name: 'end_call', arguments: '{}' }],
  })
  t.match(endOf(await all('I get you a  human\nagent. Bye')).tool_calls, [
    { name: 'end_call' },
    { name: 'transfer_call' },
  ])
  t.match(endOf(await all('The bypass')), { finish_reason: 'stop' })
  t.notOk('tool_calls' in endOf(await all('The bypass')))
})

t.test('tools', async (t) => {
  const add = toolNamed('add', async ({ a, b }) => ({
    ok: true,
    content: `${Number(a) + Number(b)}`,
  }))
  const broken = toolNamed('broken', async () => {
    throw new Error('secret')
  })
  const slow = toolNamed('slow', () => new Promise(() => undefined))
  const tools = [add, broken, slow]
  const agents = [agentNamed('Solo', { tools: ['add', 'broken', 'slow'] })]

  t.test('run side by side; their results go back in order', async (t) => {
    const { all, requests } = staged({
      agents,
      tools,
      limits: { toolMs: 20 },
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says('Sum: 3')
          : calls(
              ['slow', '{}'],
              ['add', '{"a":1,"b":2}'],
              ['broken', ''],
              ['add', '[1'],
              ['missing', '{}'],
            ),
    })
    const events = await all()
    t.strictSame(
      requests[1]?.messages.slice(3).map(({ content }) => content),
      [
        `${errorPrefix}slow failed`,
        '3',
        `${errorPrefix}broken failed`,
        `${errorPrefix}the arguments are not a JSON object`,
        `${errorPrefix}there is no tool missing`,
      ],
    )
    t.match(requests[1]?.messages[2], {
      role: 'assistant',
      toolCalls: [{ id: 'c0' }, { id: 'c1' }],
    })
    const completed = events.filter(({ event }) => event === 'tool_completed')
    t.equal(completed.length, 5)
    t.match(
      completed.find((event) => 'tool_name' in event && event.tool_name === 'broken'),
      { ok: false, error: { message: 'secret' }, agent_name: 'Solo' },
    )
    t.match(endOf(events), { text: 'Sum: 3', usage: { promptTokens: 20, completionTokens: 4 } })
  })

  t.test('text before and after a call are paragraphs', async (t) => {
    const { all } = staged({
      agents,
      tools,
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool'
          ? says('It is ', '3.')
          : [{ type: 'text', text: 'Let me see.' }, ...calls(['add', '{"a":1,"b":2}'])],
    })
    const events = await all()
    t.equal(tokensOf(events), 'Let me see.\n\nIt is 3.')
    t.equal(endOf(events).text, tokensOf(events))
  })

  t.test('the last round is offered none', async (t) => {
    const { all, requests } = staged({
      agents,
      tools,
      limits: { rounds: 3 },
      script: ({ tools }) => (tools ? calls(['add', '{}']) : says('Enough.')),
    })
    t.equal(endOf(await all()).text, 'Enough.')
    t.equal(requests.length, 3)
  })

  t.test('a payment is shown beside the result', async (t) => {
    const payment = { message: 'Pay', nonce: 'n', network: 'base', total_amount: '0.01' }
    const paid = {
      ...add,
      run: () => of({ payment }, { ok: false, content: 'payment required' }, { payment }),
    }
    const { all } = staged({
      agents,
      tools: [paid],
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? says('No money.') : calls(['add', '{}']),
    })
    const shown = (await all()).filter(({ event }) => event === 'payment_required')
    t.strictSame(shown, [{ event: 'payment_required', agent_name: 'Solo', ...payment }])
  })

  t.test('tools may have to be asked for', async (t) => {
    const models = scripted(({ tools }) => says(`${tools?.length}`))
    const run = agentRuntime({ ...hostOf([], { models }), toolsOf: async () => [add] })
    const events = await lastValueFrom(run(turnOf(agentNamed('Solo'), 'Hi')).pipe(toArray()))
    t.equal(endOf(events).text, '1')
  })
})

t.test('transfer to a sub-agent', async (t) => {
  const agents = [
    agentNamed('Root', { subAgents: ['child', 'asleep'] }),
    agentNamed('Child', { description: 'Knows\nall', subAgents: [] }),
    agentNamed('Asleep', { isActive: false }),
  ]
  const to = (name: string) => calls(['transfer_to_agent', JSON.stringify({ agent_name: name })])

  t.test('its answer is the answer of the turn', async (t) => {
    const { all, requests } = staged({
      agents,
      script: (request) => (speaker(request) === 'Child' ? says('Here.') : to('child')),
    })
    const events = await all()
    t.strictSame(outline(events), [
      'agent_started Root',
      'model_called',
      'model_answered',
      'agent_routing',
      'agent_started Child',
      'model_called',
      'token Child',
      'model_answered',
      'agent_completed Child',
      'agent_completed Root',
      'done Child',
    ])
    t.match(events[3], { from_agent: 'Root', to_agent: 'Child' })
    t.match(events[4], { depth: 1, parent_agent: 'Root' })
    t.match(endOf(events), { text: 'Here.', usage: { promptTokens: 20 } })
    t.match(requests[0]?.tools, [
      {
        parameters: {
          properties: { agent_name: { enum: ['Child'], description: 'Child: Knows all' } },
        },
      },
    ])
  })

  t.test('an unknown name is told to the model', async (t) => {
    const { all } = staged({
      agents,
      script: ({ messages }) =>
        messages.at(-1)?.role === 'tool' ? says(messages.at(-1)?.content ?? '') : to('Asleep'),
    })
    t.equal(endOf(await all()).text, 'Error: there is no such agent')
  })

  t.test('straight to a target, past the model', async (t) => {
    const [, target] = agents
    const { all, requests } = staged({ agents, script: () => says('Straight.') })
    const events = await all('Hi', target ? { target } : {})
    t.match(outline(events).slice(0, 3), [
      'agent_started Root',
      'agent_routing',
      'agent_started Child',
    ])
    t.equal(endOf(events).text, 'Straight.')
    t.equal(requests.length, 1)
  })

  t.test('a ring of agents ends at the depth limit', async (t) => {
    const ring = [agentNamed('A', { subAgents: ['b'] }), agentNamed('B', { subAgents: ['a'] })]
    const { all } = staged({
      agents: ring,
      script: (request) =>
        request.tools ? to(speaker(request) === 'A' ? 'B' : 'A') : says('Deep.'),
    })
    const events = await all()
    t.equal(endOf(events).text, 'Deep.')
    t.equal(events.filter(({ event }) => event === 'agent_routing').length, 8)
    const container = agentNamed('S', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['s'] })
    await t.rejects(staged({ agents: [container], script: () => [] }).all(), { name: 'AgentFault' })
  })
})

t.test('sequential', async (t) => {
  const agents = [
    agentNamed('Line', {
      agentType: 'SEQUENTIAL_AGENT',
      subAgents: ['one', 'gone', 'two', 'three'],
    }),
    agentNamed('One', { outputKey: 'draft' }),
    agentNamed('Two', { instruction: 'You are Two. Improve {draft}, not {other}.' }),
    agentNamed('Three'),
  ]
  const { all, requests } = staged({ agents, script: (request) => says(`By ${speaker(request)}`) })
  const events = await all()
  t.equal(tokensOf(events), 'By One\n\nBy Two\n\nBy Three')
  t.match(endOf(events), { text: tokensOf(events), agent: 'Line', usage: { promptTokens: 30 } })
  t.equal(requests[1]?.messages[0]?.content, 'You are Two. Improve By One, not {other}.')
  t.equal(
    requests[2]?.messages[0]?.content,
    'You are Three.\n\nOther agents have said in this turn:\n\nOne:\nBy One\n\nTwo:\nBy Two',
  )
  const empty = agentNamed('Empty', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['gone'] })
  await t.rejects(staged({ agents: [empty], script: () => [] }).all(), { name: 'AgentFault' })
})

/** A word at a time, in turn with all others that do the same. */
const inTurn = (...words: string[]) =>
  new Observable<ModelEvent>((subscriber) => {
    let stopped = false
    const next = (n: number) => {
      if (stopped) return
      const text = words[n]
      if (text === undefined) {
        subscriber.next(done)
        subscriber.complete()
        return
      }
      subscriber.next({ type: 'text', text })
      setImmediate(next, n + 1)
    }
    setImmediate(next, 0)
    return () => {
      stopped = true
    }
  })

t.test('parallel', async (t) => {
  const agents = [
    agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'right'] }),
    agentNamed('Left'),
    agentNamed('Right'),
  ]
  t.test('tokens are attributed where they come together', async (t) => {
    const { all } = staged({
      agents,
      script: (request) => inTurn(...(speaker(request) === 'Left' ? ['L1', 'L2', 'L3'] : ['R1'])),
    })
    const events = await all()
    const seen = outline(events).filter((line) => line.startsWith('token'))
    t.strictSame(seen, [
      'token_agent Left',
      'token Left',
      'token_agent Right',
      'token Right',
      'token_agent Left',
      'token Left',
      'token Left',
    ])
    t.match(endOf(events), { text: 'Left:\nL1L2L3\n\nRight:\nR1', agent: 'All' })
  })

  t.test('an error in one branch keeps the output of the others', async (t) => {
    const gone = new ModelUnavailable('gone')
    const { all } = staged({
      agents,
      script: (request) =>
        speaker(request) === 'Left' ? throwError(() => gone) : says('Still here'),
    })
    const events = await all()
    t.equal(endOf(events).text, 'Left:\n(could not answer)\n\nRight:\nStill here')
    t.match(
      events.find((event) => event.event === 'agent_completed' && event.agent === 'Left'),
      { error: 'ModelUnavailable', answer: null },
    )
    await t.rejects(staged({ agents, script: () => throwError(() => gone) }).all(), gone)
  })

  t.test('after it, the next agent is named too', async (t) => {
    const { all } = staged({
      agents: [
        agentNamed('Line', { agentType: 'SEQUENTIAL_AGENT', subAgents: ['all', 'last'] }),
        ...agents,
        agentNamed('Last'),
      ],
      script: (request) => says(`By ${speaker(request)}`),
    })
    t.ok(outline(await all()).includes('token_agent Last'))
  })
})

t.test('loop', async (t) => {
  const loop = (more: Partial<AgentConfig>) => [
    agentNamed('Loop', { agentType: 'LOOP_AGENT', subAgents: ['work', 'check'], ...more }),
    agentNamed('Work'),
    agentNamed('Check'),
  ]
  const counting = (script: (n: number, request: ModelRequest) => ModelEvent[]): Script => {
    let n = 0
    return (request) => script(++n, request)
  }
  t.test('three times by default', async (t) => {
    const { all, requests } = staged({ agents: loop({}), script: () => says('On') })
    t.equal(endOf(await all()).text, Array(6).fill('On').join('\n\n'))
    t.equal(requests.length, 6)
  })
  t.test('until the exit condition is said, as whole words', async (t) => {
    const script = counting((n) => says(n < 3 ? 'abandoned' : 'All Done.'))
    const { all, requests } = staged({ agents: loop({ exitCondition: 'all done' }), script })
    await all()
    t.equal(requests.length, 3)
  })
  t.test('until an agent calls exit_loop; only the innermost loop ends', async (t) => {
    const outer = agentNamed('Outer', {
      agentType: 'LOOP_AGENT',
      subAgents: ['loop'],
      maxIterations: 2,
    })
    const { all, requests } = staged({
      agents: [outer, ...loop({})],
      script: (request) => {
        const last = request.messages.at(-1)
        if (speaker(request) === 'Work') return says('On')
        return last?.role === 'tool' ? says('Good.') : calls(['exit_loop', '{}'])
      },
    })
    t.equal(endOf(await all()).text, 'On\n\nGood.\n\nOn\n\nGood.')
    t.equal(requests.length, 6)
  })
})

t.test('how a turn ends early', async (t) => {
  t.test('unsubscribing tears down every branch, tools too', async (t) => {
    let open = 0
    const hanging = (events: readonly ModelEvent[]) =>
      new Observable<ModelEvent>((subscriber) => {
        open++
        for (const event of events) subscriber.next(event)
        if (events.at(-1)?.type === 'done') subscriber.complete()
        return () => {
          open--
        }
      })
    let aborted = false
    const wait = toolNamed('wait', (_, { signal }) => {
      signal.addEventListener('abort', () => {
        aborted = true
      })
      return new Promise(() => undefined)
    })
    const agents = [
      agentNamed('All', { agentType: 'PARALLEL_AGENT', subAgents: ['left', 'right'] }),
      agentNamed('Left'),
      agentNamed('Right', { tools: ['wait'] }),
    ]
    const { events } = staged({
      agents,
      tools: [wait],
      script: (request) =>
        hanging(
          speaker(request) === 'Left' ? [{ type: 'text', text: 'L' }] : calls(['wait', '{}']),
        ),
    })
    const running = events().subscribe()
    t.equal(open, 1)
    running.unsubscribe()
    t.equal(open, 0)
    t.equal(aborted, true)
  })

  t.test('time-out', async (t) => {
    const { all } = staged({
      agents: [agentNamed('Solo')],
      script: () => NEVER,
      limits: { turnMs: 10 },
    })
    await t.rejects(all(), { name: 'TurnTimeout' })
  })

  t.test('an error ends the turn, after the agents it went through', async (t) => {
    const { events } = staged({
      agents: [agentNamed('Solo')],
      script: () => throwError(() => new ModelUnavailable('gone')),
    })
    const seen: AgentEvent[] = []
    await t.rejects(lastValueFrom(events().pipe(tap((event) => seen.push(event)))), {
      name: 'ModelUnavailable',
    })
    t.match(seen.at(-1), { event: 'agent_completed', error: 'ModelUnavailable' })
  })

  t.test('a model that ends without saying so', async (t) => {
    const { all } = staged({ agents: [agentNamed('Solo')], script: () => [] })
    await t.rejects(all(), { name: 'ModelFault' })
  })

  t.test('a synchronous burst stops where nobody listens', async (t) => {
    let given = 0
    const { events } = staged({
      agents: [agentNamed('Solo')],
      script: () => of(...says(...Array(100).fill('w'))).pipe(tap(() => given++)),
    })
    const enough = events().pipe(take(4))
    t.equal((await lastValueFrom(enough.pipe(toArray()))).length, 4)
    t.ok(given < 5, `${given} given`)
  })

  t.test('what was said until then is metered', async (t) => {
    const meter = usageMeter()
    const { events } = staged({
      agents: [agentNamed('Solo')],
      script: () => says('12345678', 'never'),
    })
    await lastValueFrom(events().pipe(tap(meter.see), take(3)))
    const { usage, charges } = meter.total()
    t.strictSame(usage, { promptTokens: 8 + 5, completionTokens: 2 })
    t.match(charges, [{ model: 'test/model', charge: 15 }])
  })
})
