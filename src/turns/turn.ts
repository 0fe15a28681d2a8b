import type { AgentConfig } from '../agents/agent.ts'
import type { TurnDone } from '../agents/agent-event.ts'
import type { ClientTools } from '../agents/turn.ts'
import type { Position } from '../domain/event.ts'
import { type Refusal, refusal } from '../domain/refusal.ts'
import { type AgentLimits, limitsOfRun } from '../domain/run-limits.ts'
import type { Viewer } from '../domain/session/viewer.ts'
import type { Call } from '../ports/call.ts'
import type { AnswerFormat, ChatMessage, ModelSettings } from '../ports/model.ts'
import type { ArrivedParts } from './begin/receive-parts.ts'
import type { TurnItems } from './turn-items.ts'

/** The result of a client's own tool for a call. */
export type ToolAnswer = { toolId: string; content: string }

/** One message to a session, and how to answer it. */
export type TurnRequest = {
  call: Call
  viewer: Viewer
  sessionId: string
  /** The session's id was made for this turn. */
  isNewSession?: boolean
  /** Undefined: leave the session as it is. */
  hidden: boolean | undefined
  message: string
  /** Files of the message, and of what was said before. */
  files?: ArrivedParts
  /** System messages, which apply to this turn. */
  system: readonly ChatMessage[]
  /** Earlier messages as the client sends them; used when the session has no stored history. */
  before: readonly ChatMessage[]
  /** Calls and results that followed the message elsewhere. */
  after?: readonly ChatMessage[]
  /** In place of a message: results for the turn that waits for them. */
  results?: readonly ToolAnswer[]
  /** The client's own tools that agents may call. */
  clientTools?: Omit<ClientTools, 'callId'>
  /** Tools that an answer may call by its words; absent: all of them. */
  keywordTools?: readonly string[]
  /** The agent that is given the turn. */
  agent: AgentConfig
  /** The agent is a draft, stored with the run alone. */
  isDraft?: true
  /** The organization's agents by id, as they were when the turn was requested. */
  agents: ReadonlyMap<string, AgentConfig>
  /** Routes straight to this agent, without the orchestrator's choice. */
  target?: AgentConfig
  /** How models are to answer in this turn. */
  settings?: ModelSettings
  format?: AnswerFormat
  /** What its answer repeats of the request; of responses alone. */
  echo?: Echo
  /** Of a resumed run: those that it began with. Absent: those of its agents. */
  limits?: AgentLimits
  /** The run that the session's latest turn has to be. */
  follows?: string
  /** Its run is stored as queued, since its payer's places are all in use. */
  queued?: { runsAtOnce: number }
  /** A repeated request has the same (idempotency key). */
  messageId: string
  /** The message is answered also where its turn, the session's latest, was cancelled. */
  askAgain?: true
  /** Nobody follows the text of its answer as it comes. */
  whole?: boolean
  /** The key's backing user, who is charged. */
  payerId: string
}

/** The limits of the run of a turn; a run that goes on keeps those that it began with. */
export const limitsOf = ({ limits, agent, target }: TurnRequest): AgentLimits =>
  limits ?? limitsOfRun(agent, target)

/**
 * What the answer of a turn repeats of its request, as JSON that its route writes and reads.
 * `short` is the same without long texts, for a request that is too large to be stored.
 */
export type Echo = { json: string; short: string }

/** How a turn ended for its client. `at`: when, in Unix seconds. */
export type Outcome =
  | { status: 'completed'; done: TurnDone; at?: number }
  /** The text until then is stored, and is no answer. */
  | { status: 'cancelled'; done: TurnDone; at?: number }
  /** It waits for a decision; `goesOn`: the decision is there already. */
  | { status: 'paused'; done: TurnDone; goesOn: boolean }
  /** `stored`: false where it is over in this process only: its end is not stored yet. */
  | { status: 'failed'; refusal: Refusal; stored?: false }

type AnswerOutcome = Extract<Outcome, { status: 'completed' | 'paused' }>

/** Whether a turn has an answer; a paused turn has its text so far. */
export const isAnswered = (outcome: Outcome): outcome is AnswerOutcome =>
  outcome.status === 'completed' || outcome.status === 'paused'

/** Why a turn has no answer. */
export const refusalOf = (outcome: Exclude<Outcome, AnswerOutcome>): Refusal =>
  outcome.status === 'failed' ? outcome.refusal : refusal('turn_cancelled')

/** The turn is over in this process only: another one has it, or is to end it. */
export const notStored = (): Outcome => ({
  status: 'failed',
  refusal: refusal('service_unavailable'),
  stored: false,
})

/** A turn that runs, or that has ended and is kept to be read again. */
export type LiveTurn = {
  runId: string
  sessionId: string
  organizationId: string
  /** The agent it was given to; undefined for runs stored before that was recorded. */
  agentId: string | undefined
  /** Unix seconds. */
  created: number
  /** Absent: the first. */
  attempt?: number
  items: TurnItems
  /** Who would own its session if it began one; undefined for turns that are read back. */
  requester?: { ownerId: string; keyId: string | null } | undefined
  /**
   * Set once its message is stored: the session's owner, the position where the run began, and how
   * many milliseconds it has taken since it began or last went on after it had waited.
   */
  beginning?: { ownerId: string; keyId: string | null; position: Position; elapsed(): number }
  /** Its message is stored, and it waits for a place among the runs of its payer. */
  queued?: boolean
  /** What its answer repeats of the request; absent: that is stored, if it is not nothing. */
  echo?: string | undefined
  /**
   * Settles when the message is stored and its run begins: with this turn, or with the earlier turn
   * when the same message was sent before. Rejects with the refusal.
   */
  started: Promise<LiveTurn>
  /** Settles when the turn's end is stored and can be read back; never rejects. */
  outcome: Promise<Outcome>
  cancel(): void
  /** Whether it was cancelled; undefined for turns that are read back. */
  isCancelled?(): boolean
  /** Leaves it to another process, once it has begun. */
  handOver?(): void
}
