import fc from 'fast-check'
import t from 'tap'
import {
  applyItem,
  isOver,
  lose,
  newTurn,
  type Turn,
  textOf,
} from '../../console/src/screens/playground/turn.ts'

const runId = '01a218e6-17d9-7583-8bc6-31d56f4a8e94'

const chunk = (content: string | undefined, finish: string | null = null, more: object = {}) => ({
  id: `chatcmpl-${runId}`,
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: content === undefined ? {} : { content }, finish_reason: finish }],
  session_id: 's-1',
  ...more,
})

const started = (agent: string, depth = 0) => ({
  event: 'agent_started',
  agent,
  agent_type: 'LLM_AGENT',
  depth,
  parent_agent: null,
})
const completed = (agent: string, ok = true) => ({
  event: 'agent_completed',
  agent,
  duration_ms: 120,
  ok,
  ...(ok ? {} : { error_code: 'llm_service_unavailable' }),
})
const tool = (event: 'tool_started' | 'tool_completed', id: string, agent_name: string) => ({
  event,
  tool_name: 'recall',
  tool_id: id,
  agent_name,
})
const approval = {
  event: 'approval_required',
  approval_id: 'a-1',
  tool_name: 'remember',
  agent_name: 'Careful',
  arguments: { text: 'tea' },
  arguments_digest: 'd',
  expires_at: '2026-11-27T00:00:00.000Z',
}

const after = (items: readonly unknown[], turn: Turn = newTurn): Turn =>
  items.reduce<Turn>(
    (state, item, index) => applyItem(state, { id: `${index}`, data: JSON.stringify(item) }),
    turn,
  )

t.test('given an answer with a hand-over and a tool, shows agents, tools and text', async (t) => {
  const turn = after([
    chunk(''),
    started('Orchestrator'),
    { event: 'agent_routing', from_agent: 'Orchestrator', to_agent: 'Concierge' },
    started('Concierge', 1),
    tool('tool_started', 'call_1', 'Concierge'),
    tool('tool_completed', 'call_1', 'Concierge'),
    chunk('I '),
    chunk('recall.'),
    completed('Concierge'),
    completed('Orchestrator'),
    chunk(undefined, 'stop'),
    { ...chunk(undefined), choices: [], usage: { total_tokens: 42 } },
  ])
  t.equal(textOf(turn), 'I recall.')
  t.match(turn, { state: 'completed', runId, tokens: 42, lastId: '11', finishReason: 'stop' })
  t.strictSame(
    turn.agents.map(({ name, state, depth, durationMs, routedTo, tools }) => ({
      name,
      state,
      depth,
      durationMs,
      routedTo,
      tools,
    })),
    [
      {
        name: 'Orchestrator',
        state: 'completed',
        depth: 0,
        durationMs: 120,
        routedTo: ['Concierge'],
        tools: [],
      },
      {
        name: 'Concierge',
        state: 'completed',
        depth: 1,
        durationMs: 120,
        routedTo: [],
        tools: [{ id: 'call_1', name: 'recall', state: 'completed' }],
      },
    ],
  )
})

t.test('given tokens of parallel agents, keeps the text of each together', async (t) => {
  const speaks = (agent: string) => ({ event: 'token_agent', agent })
  const turn = after([
    speaks('A'),
    chunk('a1 '),
    speaks('B'),
    chunk('b1'),
    speaks('A'),
    chunk('a2'),
  ])
  t.strictSame(turn.segments, [
    { agent: 'A', text: 'a1 a2' },
    { agent: 'B', text: 'b1' },
  ])
})

t.test('given a call that needs approval, waits with its arguments', async (t) => {
  const turn = after([started('Careful'), approval, chunk(undefined, 'stop')])
  t.equal(turn.state, 'waiting')
  t.match(turn.approvals, [{ approval_id: 'a-1', arguments: { text: 'tea' } }])
  const resumed = after([{ event: 'run_resumed', attempt: 2 }, started('Careful')], turn)
  t.match(resumed, { state: 'running', attempt: 2, approvals: [] })
  t.equal(resumed.agents.length, 1, 'the turn is told again from its start')
})

t.test('given an error, fails the turn, and the agents that still ran', async (t) => {
  const turn = after([
    started('A'),
    tool('tool_started', 'call_1', 'A'),
    { error: { message: 'Cancelled', type: 'conflict', code: 'turn_cancelled' } },
  ])
  t.match(turn, {
    state: 'failed',
    error: { code: 'turn_cancelled', message: 'Cancelled' },
    agents: [{ state: 'failed', tools: [{ state: 'failed' }] }],
  })
  t.ok(isOver(turn))
  t.match(lose(newTurn, 'gone'), { state: 'failed', error: { code: 'connection_lost' } })
})

t.test('given an agent that failed, keeps its code', async (t) => {
  const turn = after([started('A'), completed('A', false)])
  t.match(turn.agents, [{ state: 'failed', errorCode: 'llm_service_unavailable' }])
})

t.test('given the same agent several times, each completion ends a running one', async (t) => {
  const turn = after([started('A'), completed('A'), started('A'), completed('A')])
  t.strictSame(
    turn.agents.map(({ state }) => state),
    ['completed', 'completed'],
  )
})

t.test('given any item, never throws, and remembers its id', async (t) => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (data) => {
      const turn = applyItem(newTurn, { id: '7', data })
      return turn.lastId === '7'
    }),
  )
  const unknown = after([{ event: 'something_new', agent: 1 }])
  t.strictSame({ ...unknown, lastId: undefined }, newTurn)
})
