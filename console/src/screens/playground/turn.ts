import { z } from 'zod'

/** An item of the stream, without what it does not need. */
type Item = { id: string | undefined; data: string }

/** Any form that the console does not know counts as absent. */
const text = z.string()
const chunk = z.object({
  id: text,
  choices: z.array(
    z.object({
      delta: z.object({ content: text.nullish() }),
      finish_reason: text.nullish(),
    }),
  ),
  usage: z.object({ total_tokens: z.number() }).nullish(),
})
const failure = z.object({ error: z.object({ message: text, code: text.nullish() }) })

const approval = z.object({
  approval_id: text,
  tool_name: text,
  agent_name: text,
  arguments: z.unknown(),
  arguments_digest: text,
  expires_at: text,
})

const agentEvent = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('agent_started'),
    agent: text,
    agent_type: text,
    depth: z.number(),
    parent_agent: text.nullish(),
  }),
  z.object({
    event: z.literal('agent_completed'),
    agent: text,
    duration_ms: z.number(),
    ok: z.boolean().default(true),
    error_code: text.optional(),
  }),
  z.object({ event: z.literal('agent_routing'), from_agent: text, to_agent: text }),
  z.object({ event: z.literal('token_agent'), agent: text }),
  z.object({
    event: z.literal('tool_started'),
    tool_name: text,
    tool_id: text,
    agent_name: text,
  }),
  z.object({
    event: z.literal('tool_completed'),
    tool_name: text,
    tool_id: text,
    agent_name: text,
    ok: z.boolean().default(true),
  }),
  approval.extend({ event: z.literal('approval_required') }),
  z.object({ event: z.literal('payment_required'), message: text, agent_name: text }),
  z.object({ event: z.literal('run_resumed'), attempt: z.number() }),
])
type AgentEvent = z.infer<typeof agentEvent>

export type ApprovalRequest = z.infer<typeof approval>

export type StepState = 'running' | 'completed' | 'failed'

export type ToolCall = { id: string; name: string; state: StepState }

export type AgentWork = {
  name: string
  type: string
  depth: number
  state: StepState
  durationMs: number | undefined
  errorCode: string | undefined
  /** The agents that it handed the turn to. */
  routedTo: readonly string[]
  tools: readonly ToolCall[]
}

/** A part of the answer by one agent; null: by the only one that speaks. */
export type Segment = { agent: string | null; text: string }

export type Turn = {
  state: 'running' | 'waiting' | 'completed' | 'failed'
  runId: string | undefined
  /** Of the last item, to continue behind it. */
  lastId: string | undefined
  /** In the order in which they began. */
  agents: readonly AgentWork[]
  segments: readonly Segment[]
  /** Agents run in parallel, and this one speaks. */
  speaker: string | null
  approvals: readonly ApprovalRequest[]
  /** What tools ask to be paid for. */
  payments: readonly string[]
  attempt: number
  tokens: number | undefined
  finishReason: string | undefined
  error: { message: string; code: string } | undefined
}

export const newTurn: Turn = {
  state: 'running',
  runId: undefined,
  lastId: undefined,
  agents: [],
  segments: [],
  speaker: null,
  approvals: [],
  payments: [],
  attempt: 1,
  tokens: undefined,
  finishReason: undefined,
  error: undefined,
}

export const isOver = ({ state }: Turn): boolean => state !== 'running'

/** The answer so far, as one text. */
export const textOf = ({ segments }: Turn): string =>
  segments
    .map(({ agent, text: words }) => (agent === null ? words : `${agent}:\n${words}`))
    .join('\n\n')

/** Changes the last agent of a name for which something holds. */
const changeLast = (
  agents: readonly AgentWork[],
  name: string,
  change: (agent: AgentWork) => AgentWork,
  fits: (agent: AgentWork) => boolean = () => true,
): readonly AgentWork[] => {
  const index = agents.findLastIndex((agent) => agent.name === name && fits(agent))
  const agent = agents[index]
  return agent ? agents.with(index, change(agent)) : agents
}

const isRunning = ({ state }: { state: StepState }): boolean => state === 'running'

const endStep = <Step extends { state: StepState }>(step: Step): Step =>
  isRunning(step) ? { ...step, state: 'failed' } : step

type Handlers = {
  [Name in AgentEvent['event']]: (
    turn: Turn,
    event: Extract<AgentEvent, { event: Name }>,
  ) => Partial<Turn>
}

const handlers: Handlers = {
  agent_started: ({ agents }, { agent, agent_type: type, depth }) => ({
    agents: [
      ...agents,
      {
        name: agent,
        type,
        depth,
        state: 'running',
        durationMs: undefined,
        errorCode: undefined,
        routedTo: [],
        tools: [],
      },
    ],
  }),
  agent_completed: ({ agents }, { agent, duration_ms: durationMs, ok, error_code: errorCode }) => ({
    agents: changeLast(
      agents,
      agent,
      (work) => ({ ...work, state: ok ? 'completed' : 'failed', durationMs, errorCode }),
      isRunning,
    ),
  }),
  agent_routing: ({ agents }, { from_agent: from, to_agent: to }) => ({
    agents: changeLast(agents, from, (work) => ({ ...work, routedTo: [...work.routedTo, to] })),
  }),
  token_agent: (_turn, { agent }) => ({ speaker: agent }),
  tool_started: ({ agents }, { tool_name: name, tool_id: id, agent_name: agent }) => ({
    agents: changeLast(agents, agent, (work) => ({
      ...work,
      tools: [...work.tools, { id, name, state: 'running' }],
    })),
  }),
  tool_completed: ({ agents }, { tool_id: id, agent_name: agent, ok }) => ({
    agents: changeLast(
      agents,
      agent,
      (work) => ({
        ...work,
        tools: work.tools.map((tool) =>
          tool.id === id && isRunning(tool)
            ? { ...tool, state: ok ? 'completed' : 'failed' }
            : tool,
        ),
      }),
      ({ tools }) => tools.some((tool) => tool.id === id && isRunning(tool)),
    ),
  }),
  approval_required: ({ approvals }, { event: _, ...request }) => ({
    approvals: [
      ...approvals.filter(({ approval_id }) => approval_id !== request.approval_id),
      request,
    ],
  }),
  payment_required: ({ payments }, { message }) => ({ payments: [...payments, message] }),
  run_resumed: (_turn, { attempt }) => ({ ...newTurn, attempt }),
}

const handle = <Name extends AgentEvent['event']>(
  turn: Turn,
  event: Extract<AgentEvent, { event: Name }>,
): Partial<Turn> => (handlers[event.event as Name] as Handlers[Name])(turn, event)

const addText = ({ segments, speaker }: Turn, words: string): readonly Segment[] => {
  const index = segments.findLastIndex(({ agent }) => agent === speaker)
  const segment = segments[index]
  return segment
    ? segments.with(index, { ...segment, text: segment.text + words })
    : [...segments, { agent: speaker, text: words }]
}

/** Agents and tools do not go on while a call waits, nor after the end. */
const endAgents = (agents: readonly AgentWork[]): readonly AgentWork[] =>
  agents.map((agent) => ({ ...endStep(agent), tools: agent.tools.map(endStep) }))

const applyChunk = (turn: Turn, { id, choices, usage }: z.infer<typeof chunk>): Turn => {
  const [choice] = choices
  const words = choice?.delta.content
  const finishReason = choice?.finish_reason ?? undefined
  const next: Turn = {
    ...turn,
    runId: turn.runId ?? id.slice(id.indexOf('-') + 1),
    segments: words ? addText(turn, words) : turn.segments,
    tokens: usage?.total_tokens ?? turn.tokens,
  }
  if (finishReason === undefined) return next
  return { ...next, finishReason, state: turn.approvals.length > 0 ? 'waiting' : 'completed' }
}

const fail = (turn: Turn, message: string, code: string): Turn => ({
  ...turn,
  state: 'failed',
  agents: endAgents(turn.agents),
  error: { message, code },
})

/** A turn after one more item of its stream. An item of an unknown form changes nothing. */
export const applyItem = (turn: Turn, { id, data }: Item): Turn => {
  const lastId = id ?? turn.lastId
  let value: unknown
  try {
    value = JSON.parse(data)
  } catch {
    return { ...turn, lastId }
  }
  const event = agentEvent.safeParse(value)
  if (event.success) return { ...turn, ...handle(turn, event.data), lastId }
  const part = chunk.safeParse(value)
  if (part.success) return { ...applyChunk(turn, part.data), lastId }
  const end = failure.safeParse(value)
  if (end.success) {
    const { message, code } = end.data.error
    return { ...fail(turn, message, code ?? 'unknown'), lastId }
  }
  return { ...turn, lastId }
}

/** A turn whose connection is lost for good. */
export const lose = (turn: Turn, message: string): Turn => fail(turn, message, 'connection_lost')
