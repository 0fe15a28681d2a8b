import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { throwError } from 'rxjs'
import t from 'tap'
import type { AgentConfig, AgentType } from '../../src/agents/agent.ts'
import type { AgentEvent } from '../../src/agents/agent-event.ts'
import type { RunLimits } from '../../src/agents/agent-kind.ts'
import { agentRuntime } from '../../src/agents/agent-runtime.ts'
import type { Tool } from '../../src/agents/tool.ts'
import type { AgentLimits } from '../../src/domain/run-limits.ts'
import type { SessionEvent } from '../../src/domain/session/events.ts'
import { type ModelEvent, type ModelRequest, ModelUnavailable } from '../../src/ports/model.ts'
import { newId } from '../../src/support/ids.ts'
import { stepsOf } from '../../src/turns/record/recorder.ts'
import { stepWriter } from '../../src/turns/record/step-writer.ts'
import { type RecordedEvent, recordedRun } from '../../src/turns/resume/recorded-run.ts'
import { agentNamed, byId, hostOf, scripted, toolNamed, turnOf } from '../support/agents.ts'
import { rounds } from '../support/rounds.ts'
import { calls, says, speaker } from '../support/scene.ts'

const runId = 'run-1'
const at = '2026-01-01T00:00:00.000Z'
const seal = (text: string) => ({ $sealed: 'key', box: text })
const open = ({ box }: { box: string }) => box

/** What an agent's model does in one round. */
type Act = 'say' | 'read' | 'write' | 'both' | 'transfer' | 'fail' | 'exit'
type Plan = { type: AgentType; acts: Act[]; below: Plan[]; iterations: number }

const act = fc.constantFrom<Act>('say', 'read', 'write', 'both', 'transfer', 'exit', 'fail')
const types = fc.constantFrom<AgentType>(
  'LLM_AGENT',
  'SEQUENTIAL_AGENT',
  'PARALLEL_AGENT',
  'LOOP_AGENT',
)

const planOf = (depth: number): fc.Arbitrary<Plan> =>
  fc.record({
    type: types,
    acts: fc.array(act, { maxLength: 3 }),
    below: depth === 0 ? fc.constant([]) : fc.array(planOf(depth - 1), { maxLength: 2 }),
    iterations: fc.integer({ min: 1, max: 2 }),
  })

/** Agents of a plan, each known by its name; a container without agents is one that answers. */
const agentsOf = (plan: Plan) => {
  const all: AgentConfig[] = []
  const acts = new Map<string, Act[]>()
  const add = (plan: Plan): AgentConfig => {
    const name = `Agent${all.length}`
    const agentType = plan.below.length === 0 ? 'LLM_AGENT' : plan.type
    const agent = agentNamed(name, { agentType, toolNames: ['read', 'write'] })
    all.push(agent)
    acts.set(name, plan.acts)
    const subAgents = plan.below.map((below) => add(below).agentId)
    Object.assign(agent, { subAgents, maxIterations: plan.iterations })
    return agent
  }
  add(plan)
  return { all, acts }
}

type Named = [name: string, args: string]

const script = (acts: ReadonlyMap<string, Act[]>) => (request: ModelRequest) => {
  const name = speaker(request) ?? ''
  const round = request.messages.filter((message) => message.role === 'assistant').length
  const offered = (tool: string) => request.tools?.some((spec) => spec.name === tool) === true
  const wanted = acts.get(name)?.[round] ?? 'say'
  const named: Record<Act, Named[]> = {
    say: [],
    fail: [],
    read: [['read', '{}']],
    write: [['write', '{"a":1}']],
    both: [
      ['write', '{}'],
      ['read', '{}'],
      ['missing', '{}'],
    ],
    exit: [['exit_loop', '{}']],
    transfer: [['transfer_to_agent', `{"agent_name":"${below(request)}"}`]],
  }
  if (wanted === 'fail') return throwError(() => new ModelUnavailable('down'))
  const callNames = named[wanted].filter(([tool]) => tool === 'missing' || offered(tool))
  const text: ModelEvent = { type: 'text', text: `${name} says ${round}.` }
  return callNames.length > 0 ? [text, ...calls(...callNames)] : says(`${name} says ${round}.`)
}

const below = ({ tools = [] }: ModelRequest): string => {
  const spec = tools.find(({ name }) => name === 'transfer_to_agent')
  return /"enum":\["(\w+)"/.exec(JSON.stringify(spec?.parameters ?? {}))?.[1] ?? ''
}

/** The key of the call at a place. */
const keyOf = (place: string) =>
  createHash('sha256')
    .update(JSON.stringify([runId, place]))
    .digest('base64url')

/** Of answers before this attempt, and of those in it. */
const tokensIn = (events: readonly RecordedEvent[], seen: readonly AgentEvent[]): number => {
  const tokens = new Map<string, number>()
  for (const { type, data } of events)
    if (type === 'ModelAnswered') tokens.set(data.at, data.promptTokens + data.completionTokens)
  for (const event of seen)
    if (event.event === 'model_answered')
      tokens.set(event.at, event.usage.promptTokens + event.usage.completionTokens)
  return [...tokens.values()].reduce((sum, count) => sum + count, 0)
}

type Life = {
  events: RecordedEvent[]
  /** Tokens in the order they were said, or the name of the error. */
  said: string
  /** The text that was told. */
  tokens: string
  asked: number
  /** Tokens that the run had used, whenever a model was asked. */
  usedWhenAsked: number[]
  effects: string[]
  /** Places of calls of which somebody is to say what came of them. */
  inDoubt: string[]
}

/** One attempt of a run, from what is recorded to its end. */
const attempt = async (
  plan: Plan,
  before: readonly RecordedEvent[] = [],
  limits: Partial<RunLimits> = {},
  onUnknown: 'tell' | 'ask' = 'tell',
  own: AgentLimits = {},
): Promise<Life> => {
  const { all, acts } = agentsOf(plan)
  const answer = script(acts)
  const life: Life = {
    events: [...before],
    said: '',
    tokens: '',
    asked: 0,
    usedWhenAsked: [],
    effects: [],
    inDoubt: [],
  }
  const models = scripted((request) => {
    life.asked++
    life.usedWhenAsked.push(tokensIn(life.events, unwritten))
    return answer(request)
  })
  const unwritten: AgentEvent[] = []
  const tool = (name: 'read' | 'write'): Tool => ({
    ...toolNamed(name, async (_, { idempotencyKey }) => {
      life.effects.push(`${name} ${idempotencyKey}`)
      return { ok: true, content: `${name} done` }
    }),
    policy: { effect: name, keyed: false, onUnknown },
  })
  const recorded = recordedRun(runId, before, open)
  const store = (event: SessionEvent) => life.events.push({ ...event, metadata: { at } })
  const writer = stepWriter({
    stepOf: stepsOf(runId, seal),
    record: async (steps) => steps.forEach(store),
    answerCount: recorded.used.modelCalls,
  })
  const clock = { now: () => new Date(at), monotonic: () => 0, id: newId }
  const host = { ...hostOf({ tools: [tool('read'), tool('write')], models }), clock }
  const journal = { ...recorded, saved: writer.saved }
  const [first = agentNamed('Nobody')] = all
  const running = agentRuntime({ ...host, limits })(
    turnOf(first, 'Hi', { agents: byId(all), journal, limits: own }),
  )
  await new Promise<void>((resolve) => {
    const parts = new Map<string, string>()
    running.subscribe({
      next: (event) => {
        writer.note(event)
        if (event.event === 'model_answered' && !event.replayed) unwritten.push(event)
        if (event.event === 'token') {
          life.tokens += event.text
          parts.set(event.step_id, (parts.get(event.step_id) ?? '') + event.text)
        }
        if (event.event === 'tool_in_doubt') life.inDoubt.push(event.at)
        if (event.event === 'done') life.said = JSON.stringify(event)
      },
      error: (error: Error) => {
        life.said = error.name
        resolve()
      },
      complete: resolve,
    })
  })
  for (const step of await writer.rest({ answerIsMessage: false })) store(step)
  return life
}

/**
 * What a journal says, whatever the order of parallel branches and the ids of its steps. The order
 * decides too which call of a repeated id gets a suffix.
 */
const factsOf = (events: readonly RecordedEvent[]): string[] =>
  events
    .map(({ type, data }) => {
      const { stepId: _, ...fact } = { stepId: '', ...data }
      return `${type} ${JSON.stringify(fact)}`.replace(/"(c\d+)_\d+"/g, '"$1"')
    })
    .sort()

const placesOf = (events: readonly RecordedEvent[], type: SessionEvent['type']): Set<string> =>
  new Set(
    events.flatMap((event) =>
      event.type === type && 'at' in event.data ? [event.data.at ?? ''] : [],
    ),
  )

const minus = (all: ReadonlySet<string>, some: ReadonlySet<string>): string[] =>
  [...all].filter((item) => !some.has(item))

t.test('for every prefix of every journal, resuming gives the same journal', async (t) => {
  let prefixes = 0
  const holds = async (plan: Plan) => {
    const life = await attempt(plan)
    const answers = placesOf(life.events, 'ModelAnswered')
    for (let n = 0; n <= life.events.length; n++) {
      prefixes++
      const before = life.events.slice(0, n)
      const started = placesOf(before, 'ToolStarted')
      const doubtful = minus(started, placesOf(before, 'ToolCompleted'))
      const resumed = await attempt(plan, before)
      const known = placesOf(before, 'ModelAnswered').size
      const failures = life.asked - answers.size
      assert.ok(resumed.asked <= answers.size - known + failures, 'no recorded answer is asked for')
      const again = resumed.effects.filter((effect) =>
        [...started].some((place) => effect === `write ${keyOf(place)}`),
      )
      assert.deepEqual(again, [], 'what may have been done is not done again')
      assert.equal(new Set(resumed.effects).size, resumed.effects.length, 'nothing is done twice')
      const unknown = resumed.events.filter(
        ({ type, data }) => type === 'ToolCompleted' && data.outcome === 'unknown',
      )
      assert.ok(unknown.every(({ data }) => 'at' in data && doubtful.includes(data.at ?? '')))
      if (unknown.length > 0) continue
      assert.deepEqual(factsOf(resumed.events), factsOf(life.events))
      assert.equal(resumed.said, life.said)
    }
  }
  await fc.assert(fc.asyncProperty(planOf(2), holds), { numRuns: rounds(60, 1_000) })
  t.ok(prefixes > 100, `${prefixes} prefixes`)
})

/** Calls that write and have no result. */
const doubtfulIn = (events: readonly RecordedEvent[]): string[] => {
  const writes = events.filter(
    ({ type, data }) => type === 'ToolStarted' && data.effect === 'write',
  )
  return minus(placesOf(writes, 'ToolStarted'), placesOf(events, 'ToolCompleted'))
}

const outcomeTold = (place: string, outcome: 'done' | 'not_done'): RecordedEvent => ({
  type: 'ToolOutcomeTold',
  data: { runId, toolId: 'c0', at: place, outcome, by: 'user-1' },
  metadata: { at },
})

t.test('a call in doubt waits for its outcome, while other branches go on', async (t) => {
  let doubts = 0
  const holds = async (plan: Plan) => {
    const life = await attempt(plan)
    for (let n = 0; n <= life.events.length; n++) {
      const before = life.events.slice(0, n)
      const doubtful = doubtfulIn(before)
      if (doubtful.length === 0) continue
      doubts++
      const paused = await attempt(plan, before, {}, 'ask')
      assert.equal(paused.said, 'Paused')
      assert.deepEqual(paused.inDoubt.toSorted(), doubtful.toSorted())
      const isDoubtful = (effect: string) =>
        doubtful.some((place) => effect === `write ${keyOf(place)}`)
      assert.deepEqual(paused.effects.filter(isDoubtful), [])
      const again = await attempt(plan, paused.events, {}, 'ask')
      assert.equal(again.said, 'Paused')
      assert.equal(again.asked, 0, 'what could go on without it has done so')
      assert.deepEqual(again.effects, [])

      const done = doubtful.map((place) => outcomeTold(place, 'done'))
      const known = await attempt(plan, [...paused.events, ...done], {}, 'ask')
      assert.notEqual(known.said, 'Paused')
      assert.deepEqual(known.effects.filter(isDoubtful), [], 'what was done is not called again')

      const notDone = doubtful.map((place) => outcomeTold(place, 'not_done'))
      const called = await attempt(plan, [...paused.events, ...notDone], {}, 'ask')
      assert.deepEqual(
        called.effects.filter(isDoubtful).toSorted(),
        doubtful.map((place) => `write ${keyOf(place)}`).toSorted(),
        'what was not done is called once more',
      )
      assert.equal(called.said, life.said)
      const facts = called.events.filter(({ type }) => type !== 'ToolOutcomeTold')
      assert.deepEqual([...new Set(factsOf(facts))], [...new Set(factsOf(life.events))])

      const [first = ''] = doubtful
      const toolStarted = before.find(
        ({ type, data }) => type === 'ToolStarted' && data.at === first,
      )
      if (!toolStarted) throw new Error('the call was begun')
      const cut = [...paused.events, ...notDone, toolStarted]
      const unknown = await attempt(plan, cut, {}, 'ask')
      assert.deepEqual(unknown.inDoubt, [first], 'cut off again, it is in doubt again')
    }
  }
  await fc.assert(fc.asyncProperty(planOf(2), holds), { numRuns: rounds(60, 1_000) })
  t.ok(doubts > 10, `${doubts} doubts`)
})

t.test('limits of a run hold across its attempts', async (t) => {
  const calls: Plan = {
    type: 'LLM_AGENT',
    acts: ['read', 'read', 'read'],
    below: [],
    iterations: 1,
  }
  const plan: Plan = { type: 'SEQUENTIAL_AGENT', acts: [], below: [calls, calls], iterations: 1 }
  for (const limits of [{ modelCalls: 5 }, { steps: 4 }, { modelCalls: 1 }]) {
    const life = await attempt(plan, [], limits)
    t.match(JSON.parse(life.said), { finish_reason: 'length' })
    for (let n = 0; n <= life.events.length; n++) {
      const resumed = await attempt(plan, life.events.slice(0, n), limits)
      t.equal(resumed.said, life.said)
      t.strictSame(factsOf(resumed.events), factsOf(life.events))
    }
  }
})

t.test('a run whose agents have changed since does not go on', async (t) => {
  const single: Plan = { type: 'LLM_AGENT', acts: [], below: [], iterations: 1 }
  const { events } = await attempt({ ...single, type: 'SEQUENTIAL_AGENT', below: [single, single] })
  const other = events.map((event) =>
    event.type === 'AgentStarted' && event.data.at === '0.1'
      ? { ...event, data: { ...event.data, agentId: 'another' } }
      : event,
  )
  const resumed = await attempt(
    { ...single, type: 'SEQUENTIAL_AGENT', below: [single, single] },
    other,
  )
  t.equal(resumed.said, 'AgentFault')
})

const limited = fc.oneof(
  fc.record({ steps: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ tokens: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ charge: fc.integer({ min: 1, max: 120 }) }),
  fc.record({ steps: fc.integer({ min: 1, max: 6 }), tokens: fc.integer({ min: 1, max: 120 }) }),
)

const isInOrder = ({ type, below }: Plan): boolean =>
  type !== 'PARALLEL_AGENT' && below.every(isInOrder)

t.test('a run never exceeds its limits, however often it is resumed', async (t) => {
  let limitEnds = 0
  const holds = async (plan: Plan, own: AgentLimits, cuts: readonly number[]) => {
    const reference = await attempt(plan, [], {}, 'tell', own)
    const { steps = Number.POSITIVE_INFINITY, tokens, charge } = own
    const most = Math.min(tokens ?? Number.POSITIVE_INFINITY, charge ?? Number.POSITIVE_INFINITY)
    const within = ({ events, usedWhenAsked }: Life) => {
      const stepCount = placesOf(events, 'AgentStarted').size + placesOf(events, 'ToolStarted').size
      assert.ok(stepCount <= steps, `${stepCount} of ${steps} steps`)
      for (const used of usedWhenAsked) assert.ok(used < most, `asked with ${used} of ${most}`)
    }
    within(reference)
    if (reference.said === 'LimitReached') limitEnds++
    let life = reference
    let before: readonly RecordedEvent[] = []
    // Another branch may be the first that a limit stops, and the usage of a failed one is not
    // recorded.
    let isKnown = isInOrder(plan)
    for (const cut of cuts) {
      const rest = life.events.length - before.length
      before = life.events.slice(0, before.length + (cut % (rest + 1)))
      const doubtful = minus(placesOf(before, 'ToolStarted'), placesOf(before, 'ToolCompleted'))
      isKnown &&= doubtful.length === 0
      life = await attempt(plan, before, {}, 'tell', own)
      within(life)
    }
    if (isKnown) assert.equal(life.said, reference.said)
  }
  const cuts = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 5 })
  await fc.assert(fc.asyncProperty(planOf(2), limited, cuts, holds), {
    numRuns: rounds(150, 2_000),
  })
  t.ok(limitEnds > 20, `${limitEnds} runs reached a limit`)
})

t.test('time counts in which a process had the run, and no other', async (t) => {
  const agent = { runId, agent: 'A', at: '0' }
  const cost = { promptTokens: 0, completionTokens: 0, charge: 0 }
  const agentStarted: SessionEvent = {
    type: 'AgentStarted',
    data: {
      ...agent,
      stepId: 's',
      agentId: 'a',
      agentType: 'LLM_AGENT',
      depth: 0,
      parentAgent: null,
    },
  }
  const resumed: SessionEvent = { type: 'RunResumed', data: { runId, node: 'n', attempt: 2 } }
  const steps: [second: number, event: SessionEvent][] = [
    [
      0,
      {
        type: 'RunStarted',
        data: { runId, messageId: 'm', agentId: 'a', agent: 'A', node: 'n', payerId: 'u' },
      },
    ],
    [3, agentStarted],
    [4, { type: 'RunPaused', data: { runId, state: 'in_doubt', agent: 'A', ...cost } }],
    [
      3_600,
      {
        type: 'ToolOutcomeTold',
        data: { runId, toolId: 't', at: '0/1/0', outcome: 'done', by: null },
      },
    ],
    [3_700, resumed],
    [3_702, agentStarted],
    [9_000, resumed],
    [9_000.5, { type: 'RunHandedOver', data: { runId, node: 'n' } }],
    [20_000, resumed],
  ]
  const events = steps.map(([second, event]) => ({
    ...event,
    metadata: { at: new Date(Date.UTC(2026, 0) + second * 1_000).toISOString() },
  }))
  const msOf = (n: number) => recordedRun(runId, events.slice(0, n), open).used.ms
  t.strictSame(
    steps.map((_, n) => msOf(n + 1)),
    [0, 3_000, 4_000, 4_000, 4_000, 6_000, 6_000, 6_500, 6_500],
  )
})

t.test('a run without time left is replayed to its last step, and begins nothing', async (t) => {
  const plan: Plan = {
    type: 'LLM_AGENT',
    acts: ['read', 'write', 'say'],
    below: [],
    iterations: 1,
  }
  const { events } = await attempt(plan)
  const late = events.slice(0, -3).map((event, n) => ({
    ...event,
    metadata: { at: new Date(Date.parse(at) + n * 1_000).toISOString() },
  }))
  const resumed = await attempt(plan, late, {}, 'tell', { seconds: 2 })
  t.equal(resumed.said, 'LimitReached')
  t.strictSame([resumed.asked, resumed.effects], [0, []])
  t.equal(resumed.tokens, 'Agent0 says 0.\n\nAgent0 says 1.')
})
