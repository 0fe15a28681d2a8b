import { z } from 'zod'
import type { ApprovalRequired, ToolInDoubt, TurnDone } from '../../agents/agent-event.ts'
import { defaultLimits } from '../../agents/agent-runtime.ts'
import { trimmed } from '../../agents/context.ts'
import { withVisibleParts } from '../../agents/parts.ts'
import { chatMessages, type Suspended, suspended } from '../../agents/suspended.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { ReachedLimit } from '../../domain/run-limits.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { ChatMessage } from '../../ports/model.ts'
import type { Keyed } from '../../security/vault.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'

/** Characters beyond which sealing takes an iteration of the event loop of its own. */
const large = 262_144
/** The largest state of a turn that waits: characters of JSON, and characters once it is sealed. */
const mostKept = 2_097_152
const mostSealed = 700_000

/**
 * How the agents' part of a turn ended. `done` holds the answer and the usage until then,
 * `firstTokenMs` how long the first token took.
 */
export type AgentResult = { done: TurnDone; firstTokenMs?: number } & (
  | { status: 'done' | 'cancelled'; refusal?: never }
  /**
   * It waits for decisions on these calls, or their outcomes, and is resumed in another attempt.
   */
  | {
      status: 'paused'
      approvals: readonly ApprovalRequired[]
      inDoubt: readonly ToolInDoubt[]
      refusal?: never
    }
  | { status: 'failed' | 'timed_out'; refusal: Refusal; cause?: string | undefined }
  /** It has reached a limit of its agent: its text so far is stored and charged. */
  | { status: 'limited'; refusal: Refusal; limit: ReachedLimit }
  /** Another process resumes it; once it is lost, nothing of it is stored here. */
  | { status: 'lost' | 'handed_over'; refusal: Refusal }
)

/** The state of a turn that waits: messages that are not in the session, and where agents wait. */
export type WaitingState = {
  system: readonly ChatMessage[]
  before: readonly ChatMessage[]
  after: readonly ChatMessage[]
  from: Suspended
}

const waitingState: z.ZodType<WaitingState> = z.object({
  system: chatMessages,
  before: chatMessages,
  after: chatMessages,
  from: suspended,
})

/** Seals the state of a turn that waits; undefined where it is too large. */
const sealedState = async (key: Keyed, state: WaitingState): Promise<Sealed | undefined> => {
  const text = JSON.stringify(state)
  if (text.length > mostKept) return undefined
  if (text.length > large) await yieldToEventLoop()
  const sealed = key.seal(text)
  return sealed.box.length > mostSealed ? undefined : sealed
}

export const openedState = (key: Keyed, state: Sealed): WaitingState =>
  waitingState.parse(JSON.parse(key.open(state)))

/** How a turn ended, its unstored steps and, where it waits for the client, its sealed state. */
export type RunResult = AgentResult & { steps: readonly SessionEvent[]; state?: Sealed }

/** Seals the state of a turn that waits for the client. With too large a state it has failed. */
export const sealWaiting = async (
  result: RunResult,
  { system, before, after }: Omit<WaitingState, 'from'>,
  key: Keyed,
): Promise<RunResult> => {
  const { suspended: from, ...done } = result.done
  if (result.status !== 'done' || !from) return result
  // Files of messages outside the session are not stored.
  const history = trimmed(before, defaultLimits.context).map((message) =>
    withVisibleParts(message, () => false),
  )
  const state = await sealedState(key, { system, before: history, after, from })
  if (state) return { ...result, done, state }
  const tooLong = refusal('context_length_exceeded')
  return { status: 'failed', done, refusal: tooLong, steps: result.steps }
}
