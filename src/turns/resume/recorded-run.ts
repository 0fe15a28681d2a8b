import type { Journal, RecordedStep } from '../../agents/journal.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { Keyed } from '../../security/vault.ts'
import { digestOf } from '../record/arguments-digest.ts'

/** A recorded event, and when it was appended. */
export type RecordedEvent = SessionEvent & { metadata: { at: string } }

export type RecordedRun = Omit<Journal, 'saved'> & {
  /** The message that answers it is stored, though its end is not. */
  isAnswered: boolean
}

type Answer = SessionEvent<'ModelAnswered'>['data']

/** What an answer used, and of which model. */
export const spentOn = ({ model, price, promptTokens, completionTokens }: Answer) => ({
  model,
  price,
  usage: { promptTokens, completionTokens },
})

/** What a process records of a run that it has; all else happens to a run, or is said of it. */
const ofProcess: ReadonlySet<SessionEvent['type']> = new Set([
  'AgentStarted',
  'AgentCompleted',
  'AgentRouted',
  'ModelAnswered',
  'ToolStarted',
  'ToolCompleted',
  'RunPaused',
  'RunHandedOver',
  'RunCleared',
])

/** How long processes had a run: of each, from its first event of it to its last. */
const runningTime = () => {
  let earlier = 0
  let began: number | undefined
  let last = 0
  const present = () => (began === undefined ? 0 : Math.max(0, last - began))
  return {
    see(type: SessionEvent['type'], at: number): void {
      if (type === 'RunStarted' || type === 'RunDequeued' || type === 'RunResumed') {
        earlier += present()
        began = at
        last = at
      } else if (ofProcess.has(type)) {
        began ??= at
        last = at
      }
    },
    total: () => earlier + present(),
  }
}

/**
 * What is recorded of one run, as its agents ask for it. Texts are opened when they are asked for.
 * Of a place that was written twice the first counts.
 */
export const recordedRun = (
  runId: string,
  events: readonly RecordedEvent[],
  open: Keyed['open'],
): RecordedRun => {
  const steps = new Map<string, RecordedStep>()
  const answers = new Map<string, SessionEvent<'ModelAnswered'>['data']>()
  const started = new Map<string, SessionEvent<'ToolStarted'>['data']>()
  const completed = new Map<string, SessionEvent<'ToolCompleted'>['data']>()
  const routed = new Set<string>()
  /** By place; forgotten once the call is made again. */
  const outcomes = new Map<string, SessionEvent<'ToolOutcomeTold'>['data']>()
  const requests = new Map<string, SessionEvent<'ApprovalRequested'>['data']>()
  /** By the approval's id. */
  const decisions = new Map<string, SessionEvent<'ApprovalDecided'>['data'] | 'expired'>()
  let isAnswered = false
  const running = runningTime()

  const first = <T>(map: Map<string, T>, at: string | undefined, value: T): void => {
    if (at !== undefined && !map.has(at)) map.set(at, value)
  }

  for (const { type, data, metadata } of events) {
    if (!('runId' in data) || data.runId !== runId) continue
    running.see(type, Date.parse(metadata.at))
    if (type === 'AgentStarted')
      first(steps, data.at, {
        stepId: data.stepId,
        agentId: data.agentId,
        startedAt: new Date(metadata.at),
        completed: false,
      })
    else if (type === 'AgentCompleted') {
      const step = data.at === undefined ? undefined : steps.get(data.at)
      if (step && !step.completed) Object.assign(step, { completed: true, error: data.error })
    } else if (type === 'AgentRouted') routed.add(data.at ?? '')
    else if (type === 'ModelAnswered') first(answers, data.at, data)
    else if (type === 'ToolStarted') {
      first(started, data.at, data)
      outcomes.delete(data.at ?? '')
    } else if (type === 'ToolOutcomeTold') outcomes.set(data.at, data)
    else if (type === 'ToolCompleted') first(completed, data.at, data)
    else if (type === 'ApprovalRequested') first(requests, data.at, data)
    else if (type === 'ApprovalDecided') first(decisions, data.approvalId, data)
    else if (type === 'ApprovalExpired') first(decisions, data.approvalId, 'expired')
    else if (type === 'AssistantMessageRecorded') isAnswered = true
  }

  return {
    isAnswered,
    stepAt: (at) => steps.get(at),
    answerAt(at) {
      const answer = answers.get(at)
      if (!answer) return undefined
      const { finishReason, text, calls = [], cutBy } = answer
      return {
        ...spentOn(answer),
        finishReason,
        text: open(text),
        cutBy,
        calls: calls.map((call) => ({ ...call, arguments: open(call.arguments) })),
      }
    },
    toolAt(at) {
      const call = started.get(at)
      if (!call) return undefined
      const { effect = 'write' } = call
      const done = completed.get(at)
      if (done?.result) return { effect, result: { ok: done.ok, content: open(done.result) } }
      const outcome = outcomes.get(at)
      if (!outcome) return { effect }
      if (outcome.outcome === 'not_done') return { effect, told: { outcome: 'not_done' } }
      const result = outcome.result ? { content: open(outcome.result) } : {}
      return { effect, told: { outcome: 'done', ...result } }
    },
    isRouted: (at) => routed.has(at),
    approvalAt(at, args) {
      const request = requests.get(at)
      if (!request) return undefined
      const { approvalId, definition, approver, expiresAt } = request
      const approval = { approvalId, definition, approver, expiresAt, told: completed.has(at) }
      const decision = decisions.get(approvalId)
      if (decision === undefined) return { ...approval, status: 'pending' }
      if (decision === 'expired') return { ...approval, status: 'expired' }
      const { reason } = decision
      if (decision.decision === 'deny')
        return { ...approval, status: 'denied', ...(reason ? { reason: open(reason) } : {}) }
      const same = digestOf(args) === decision.argumentsDigest
      return { ...approval, status: same ? 'approved' : 'changed' }
    },
    used: {
      modelCalls: answers.size,
      steps: steps.size + started.size,
      ms: running.total(),
      answers: [...answers.values()].map(spentOn),
      callIds: [...answers.values()].flatMap(({ calls = [] }) => calls.map(({ id }) => id)),
    },
  }
}
