import type { FinishReason, ModelRequest, Price, ToolCall, Usage } from '../ports/model.ts'

/** An agent's step as it was recorded. */
export type RecordedStep = {
  stepId: string
  agentId: string
  startedAt: Date
  /** Its end is recorded too; `error` is the name of what it failed with. */
  completed: boolean
  error?: string | undefined
}

/** A model's answer as it was recorded. */
export type RecordedAnswer = {
  model: string
  price: Price
  usage: Usage
  finishReason: FinishReason
  text: string
  calls: readonly ToolCall[]
  /** The limit of the run that cut it off. */
  cutBy?: 'tokens' | 'credits' | undefined
}

/**
 * A tool that was called; without a result, it is not known what came of it. `told`: somebody has
 * said so since; without a `content` no result was given.
 */
export type RecordedTool = {
  effect: 'read' | 'write'
  result?: { ok: boolean; content: string }
  told?: { outcome: 'done'; content?: string } | { outcome: 'not_done' }
}

/**
 * What was decided on a call that waits for somebody. `changed`: it was approved with other
 * arguments.
 */
export type RecordedApproval = {
  approvalId: string
  status: 'pending' | 'approved' | 'denied' | 'expired' | 'changed'
  /** A digest of how the tool was configured. */
  definition: string
  approver: 'user' | 'admin'
  expiresAt: string
  reason?: string | undefined
  /** The model has received the denial. */
  told: boolean
}

/** What earlier attempts of a run have used. */
export type RecordedUse = {
  modelCalls: number
  steps: number
  /**
   * Milliseconds in which it ran: neither those in which it waited nor those in which no process
   * had it.
   */
  ms: number
  answers: readonly Pick<RecordedAnswer, 'model' | 'price' | 'usage'>[]
  /** Ids of the calls in these answers. */
  callIds: readonly string[]
}

export const nothingUsed: RecordedUse = {
  modelCalls: 0,
  steps: 0,
  ms: 0,
  answers: [],
  callIds: [],
}

/**
 * What is recorded of a run, by places. A place names an agent by the way to it (`0.1.t`), a
 * model's answer by the agent and its number (`0.1/2`), a tool's call by the answer and the call's
 * number (`0.1/2/0`). It is the same in every attempt, whatever the order of parallel branches.
 */
export type Journal = {
  stepAt(at: string): RecordedStep | undefined
  answerAt(at: string): RecordedAnswer | undefined
  toolAt(at: string): RecordedTool | undefined
  isRouted(at: string): boolean
  /** Told what a model is asked at a place, also where its answer is recorded. */
  asks?(at: string, request: ModelRequest): void
  /** Of a call with these arguments. */
  approvalAt(at: string, args: string): RecordedApproval | undefined
  used: RecordedUse
  /**
   * Resolves when the answers and results so far, and the calls about to be made, are on disk;
   * rejects when they cannot be, or the run is no longer this process's. Undefined when nothing is
   * waiting.
   */
  saved(): Promise<void> | undefined
}

/** Where nothing is recorded. */
export const noJournal: Journal = {
  stepAt: () => undefined,
  answerAt: () => undefined,
  toolAt: () => undefined,
  isRouted: () => false,
  approvalAt: () => undefined,
  used: nothingUsed,
  saved: () => undefined,
}

/** What an agent failed with, known by its name alone: it fails with it again. */
export const recordedFailure = (name: string): Error =>
  Object.assign(new Error('the agent had failed before the run was resumed'), { name })
