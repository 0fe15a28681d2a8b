import { z } from 'zod'
import { chargeOf, saturate } from '../src/domain/amounts.ts'
import type { Seen } from '../src/domain/event.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { count, credits, inCredits, micro, msBetween, text, timestamp, wholeMs } from './fields.ts'
import { projection, without } from './projection.ts'

/** One step of a run: an agent, a call of its model or of a tool, or an approval. */
const runStepView = z.object({
  organization_id: text,
  run_id: text,
  /** Of its first event, in the session's stream: steps are in this order. */
  revision: count,
  step_id: text.describe('Its place in the run, or the id of an approval'),
  parent_id: text.nullable().describe('The step of the agent that it belongs to'),
  kind: z.enum(['agent', 'model', 'tool', 'approval', 'attempt']),
  name: text.describe('Of the agent, model or tool'),
  agent_name: text,
  started_at: timestamp,
  duration_ms: count.nullable().describe('Null until it has ended, and where it is not known'),
  status: z.enum([
    'running',
    'completed',
    'failed',
    'cancelled',
    'timed_out',
    'unknown',
    'pending',
    'approved',
    'denied',
    'expired',
    'withdrawn',
    'paused',
    'handed_over',
    'interrupted',
  ]),
  tokens: count.nullable().describe('Of an agent: of its own model calls. Null of other kinds'),
  charge: micro.nullable(),
  code: text.optional().describe('Why a call of a model failed; absent unless it did'),
})
export type RunStepView = z.infer<typeof runStepView>

/** Neither in feeds nor in past states. */
const inner = { organization_id: true, run_id: true, revision: true } as const

/** A step as it is shown. */
export const runStep = runStepView
  .omit(inner)
  .extend({ charge: credits.nullable().describe('Credits; null as tokens are, or not known') })

export const runStepOf = (view: RunStepView): z.infer<typeof runStep> => ({
  ...without(view, inner),
  charge: view.charge === null ? null : inCredits(view.charge),
})

/** The place of the agent that a step belongs to: `0.1` of `0.1/2/0`, `0` of `0.1`. */
const agentAbove = (place: string): string | null => {
  const call = place.indexOf('/')
  if (call !== -1) return place.slice(0, call)
  const dot = place.lastIndexOf('.')
  return dot === -1 ? null : place.slice(0, dot)
}

/** A run's only answer has no event: it is the first that its agent asked for. */
const firstAnswer = (place: string): string => `${place}/1`

const idOf = (runId: string, stepId: string): string => `${runId}:${stepId.replaceAll('/', ':')}`

/** A time so many milliseconds before another. */
const before = (at: string, ms: number): string => {
  const time = Date.parse(at) - ms
  return time >= 0 ? new Date(time).toISOString() : at
}

const earlier = (left: string, right: string): string =>
  Date.parse(right) < Date.parse(left) ? right : left

type Event = Seen<typeof sessionEvents>
type Stepped<Type extends Event['type']> = Seen<typeof sessionEvents, Type>

const beginStep = (
  { revision, metadata }: Pick<Event, 'revision' | 'metadata'>,
  step: Pick<RunStepView, 'run_id' | 'step_id' | 'parent_id' | 'kind' | 'name' | 'agent_name'>,
): RunStepView => ({
  organization_id: metadata.organization_id,
  revision,
  ...step,
  started_at: metadata.at,
  duration_ms: null,
  status: 'running',
  tokens: null,
  charge: null,
})

/** A step of which the end is recorded. */
const endStep = (
  view: RunStepView,
  { metadata }: Pick<Event, 'metadata'>,
  durationMs: number | undefined,
): RunStepView => ({
  ...view,
  started_at: durationMs === undefined ? metadata.at : before(metadata.at, durationMs),
  duration_ms: durationMs === undefined ? null : wholeMs(durationMs),
})

type FailedCall = NonNullable<Stepped<'AgentCompleted'>['data']['failedCall']>
type Tokens = { promptTokens: number; completionTokens: number }

const tokensOf = ({ promptTokens, completionTokens }: Tokens): number =>
  saturate(promptTokens + completionTokens)

const beginAgent = (
  event: Stepped<'AgentStarted' | 'AgentCompleted'>,
  place: string,
): RunStepView =>
  beginStep(event, {
    run_id: event.data.runId,
    step_id: place,
    parent_id: agentAbove(place),
    kind: 'agent',
    name: event.data.agent,
    agent_name: event.data.agent,
  })

/** Its start may be stored with its end. Where it waited in between, the earlier start counts. */
const endAgent = (
  view: RunStepView,
  { metadata, data }: Stepped<'AgentCompleted'>,
): RunStepView => ({
  ...view,
  started_at: earlier(view.started_at, before(metadata.at, data.durationMs)),
  duration_ms: wholeMs(data.durationMs),
  status: data.error === undefined ? 'completed' : 'failed',
  tokens: tokensOf(data),
  charge: data.charge ?? null,
})

const modelStep = (
  event: Stepped<'ModelAnswered' | 'AgentCompleted'>,
  place: string,
  name: string,
  durationMs: number | undefined,
  charge: number | null,
): RunStepView => {
  const { runId: run_id, agent: agent_name } = event.data
  const step = { run_id, step_id: place, parent_id: agentAbove(place), name, agent_name }
  return {
    ...endStep(beginStep(event, { ...step, kind: 'model' }), event, durationMs),
    status: 'completed',
    tokens: tokensOf(event.data),
    charge,
  }
}

/** The call of its model that an agent failed with; it has no tokens, and is free. */
const failedModelStep = (
  event: Stepped<'AgentCompleted'>,
  { at: place, model: name, durationMs, code }: FailedCall,
): RunStepView => {
  const { runId: run_id, agent: agent_name } = event.data
  const step = { run_id, step_id: place, parent_id: agentAbove(place), name, agent_name }
  const started = beginStep(event, { ...step, kind: 'model' })
  return { ...endStep(started, event, durationMs), status: 'failed', code }
}

const beginTool = (event: Stepped<'ToolStarted' | 'ToolCompleted'>): RunStepView => {
  const { runId: run_id, tool: name, agent: agent_name, at = '' } = event.data
  const step = { run_id, step_id: at, parent_id: agentAbove(at), name, agent_name }
  return beginStep(event, { ...step, kind: 'tool' })
}

const toolStatuses = { ok: 'completed', failed: 'failed', unknown: 'unknown' } as const

const endTool = (view: RunStepView, { metadata, data }: Stepped<'ToolCompleted'>): RunStepView => ({
  ...view,
  duration_ms: wholeMs(data.durationMs ?? msBetween(view.started_at, metadata.at)),
  status: toolStatuses[data.outcome ?? (data.ok ? 'ok' : 'failed')],
})

const endApproval = (
  view: RunStepView,
  { metadata }: Event,
  status: 'approved' | 'denied' | 'expired' | 'withdrawn',
): RunStepView => ({ ...view, status, duration_ms: msBetween(view.started_at, metadata.at) })

/** Ids of the steps of an event; none where an earlier version stored it without its place. */
const idsOf = (event: Event): string | readonly string[] => {
  const { data } = event
  if ('approvalId' in data) return idOf(data.runId, data.approvalId)
  if (!('runId' in data && 'at' in data) || data.at === undefined) return []
  const { runId, at } = data
  if (event.type !== 'AgentCompleted') return idOf(runId, at)
  const { model, failedCall } = event.data
  return [
    idOf(runId, at),
    ...(model === null ? [] : [idOf(runId, firstAnswer(at))]),
    ...(failedCall ? [idOf(runId, failedCall.at)] : []),
  ]
}

/** Steps stay when their session is erased: they hold nothing of what was said. */
export const runSteps = projection<RunStepView, typeof sessionEvents>()({
  name: 'run_steps',
  schema: runStepView,
  pace: 'later',
  categories: ['session'],
  events: sessionEvents,
  indexes: {
    by_run: { equals: ['organization_id', 'run_id'], orderBy: 'revision', totals: false },
  },
  id: idsOf,
  creates: {
    AgentStarted: (event) => beginAgent(event, event.data.at ?? ''),
    AgentCompleted: (event, id) => {
      const { runId, at = '', model, durationMs, charge = null, failedCall } = event.data
      if (id === idOf(runId, at)) return endAgent(beginAgent(event, at), event)
      return failedCall && id === idOf(runId, failedCall.at)
        ? failedModelStep(event, failedCall)
        : modelStep(event, firstAnswer(at), model ?? '', durationMs, charge)
    },
    ModelAnswered: (event) => {
      const { at, model, durationMs, price } = event.data
      return modelStep(event, at, model, durationMs, chargeOf(event.data, price))
    },
    ToolStarted: beginTool,
    ToolCompleted: (event) =>
      endTool(endStep(beginTool(event), event, event.data.durationMs), event),
    ApprovalRequested: (event) => {
      const { runId: run_id, approvalId: step_id, at, tool: name, agent: agent_name } = event.data
      const step = { run_id, step_id, parent_id: agentAbove(at), name, agent_name }
      return { ...beginStep(event, { ...step, kind: 'approval' }), status: 'pending' }
    },
  },
  changes: {
    AgentCompleted: (view, event) => (view.kind === 'agent' ? endAgent(view, event) : view),
    ToolStarted: (view, { metadata }) => ({
      ...view,
      started_at: metadata.at,
      duration_ms: null,
      status: 'running',
    }),
    ToolCompleted: endTool,
    ToolOutcomeTold: (view, { data }) => ({
      ...view,
      status: data.outcome === 'done' ? 'completed' : 'failed',
    }),
    ApprovalDecided: (view, event) =>
      endApproval(view, event, event.data.decision === 'approve' ? 'approved' : 'denied'),
    ApprovalExpired: (view, event) => endApproval(view, event, 'expired'),
    ApprovalWithdrawn: (view, event) => endApproval(view, event, 'withdrawn'),
  },
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, UserMessageSent: true, RunStarted: true,
    RunDequeued: true, RunResumed: true, RunCleared: true, RunHandedOver: true, AgentRouted: true,
    ClientToolsCalled: true, ClientToolAnswered: true, ClientToolsUnanswered: true,
    RunPaused: true, AssistantMessageRecorded: true, RunLimitReached: true, RunCompleted: true,
    RunFailed: true, RunCancelled: true, RunTimedOut: true, ForkBegun: true, MessageForked: true,
    SessionForked: true, SessionErased: true,
  },
})
