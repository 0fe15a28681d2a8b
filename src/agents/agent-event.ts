import type { ReachedLimit } from '../domain/run-limits.ts'
import type { FinishReason, Price, ToolCall, Usage } from '../ports/model.ts'
import type { AgentType } from './agent.ts'
import type { Suspended } from './suspended.ts'

/** What a call over HTTP reached, and the names of the credentials that it was given. */
export type Reached = { host: string; httpStatus?: number; credentials?: readonly string[] }

/** A `read` may be made again. */
export type ToolEffect = 'read' | 'write'

/** What one agent said in a turn, and the key under which later instructions find it. */
export type AgentOutput = { agent: string; key: string | null; text: string }

/** Marks a recorded event that is replayed: it is stored and counted once. */
type Replayed = { replayed?: true }

/** What an agent's run came to. */
export type AgentAnswer = {
  text: string
  /** The agent that gave it: after a transfer the one transferred to. */
  by: string
  finishReason: FinishReason
  /** Everything said on the way, for the agents that come after. */
  outputs: readonly AgentOutput[]
  /** It waits for results of the client, and is to be resumed from here. */
  suspended?: Suspended
}

/** What one model used in a turn and what that costs, in micro-credits. */
export type Charge = { model: string; price: Price; usage: Usage; charge: number }

export type AgentStarted = Replayed & {
  event: 'agent_started'
  agent: string
  agent_id: string
  agent_type: AgentType
  depth: number
  parent_agent: string | null
  step_id: string
  at: string
  timestamp: string
}

/** Follows every agent_started. `answer` is null and `error` the error's name where it failed. */
export type AgentCompleted = Replayed & {
  event: 'agent_completed'
  agent: string
  agent_id: string
  step_id: string
  at: string
  duration_ms: number
  /** Of this agent's own model calls. */
  usage: Usage
  /** Of the same, in micro-credits. */
  charge: number
  model: string | null
  answer: AgentAnswer | null
  error?: string
  /** The call of its model that it failed with. */
  failed_call?: { at: string; model: string; duration_ms: number }
  timestamp: string
}

/** The branches of parallel agents that an event came through, the outermost first. */
type Path = { path?: readonly number[] }

export type TokenEvent = Path &
  Replayed & {
    event: 'token'
    agent: string
    step_id: string
    text: string
    /** Its text begins a paragraph before the parallel agent that is so many steps up its path. */
    follows?: number
  }

/** A parallel agent begins its branches, which have these names in the configured order. */
export type BranchesBegan = Path & { event: 'branches_began'; names: readonly string[] }

/** The branch that `path` names last has ended; `answered` unless it failed. */
export type BranchEnded = Path & {
  event: 'branch_ended'
  agent: string
  step_id: string
  answered: boolean
}

export type PaymentRequired = {
  event: 'payment_required'
  message: string
  agent_name: string
  nonce: string
  network: string
  total_amount: string
}

/** A model was asked, or would be if its answer were not recorded. */
export type ModelCalled = Replayed & {
  event: 'model_called'
  step_id: string
  model: string
  price: Price
  /** An estimate, for a call that never comes to its end. */
  prompt_tokens: number
}

export type ModelAnswered = Replayed & {
  event: 'model_answered'
  step_id: string
  at: string
  agent: string
  model: string
  price: Price
  usage: Usage
  finish_reason: FinishReason
  text: string
  calls: readonly ToolCall[]
  /** Absent: it is replayed. */
  duration_ms?: number
  /** The limit of the run that cut it off. */
  cut_by?: 'tokens' | 'credits'
}

export type ToolStarted = Replayed & {
  event: 'tool_started'
  at: string
  tool_name: string
  tool_id: string
  agent_name: string
  effect: ToolEffect
  /** JSON as the model wrote it: the user's data, never for the wire or the logs. */
  arguments: string
}

export type ToolCompleted = Replayed & {
  event: 'tool_completed'
  at: string
  tool_name: string
  tool_id: string
  agent_name: string
  ok: boolean
  outcome: 'ok' | 'failed' | 'unknown'
  /** What the model is told: the user's data, never for the wire or the logs. */
  content: string
  duration_ms: number
  reached?: Reached
  /** What a tool threw, for the logs. */
  error?: unknown
}

/**
 * A call of a tool waits until somebody agrees. `replayed`: it was asked for in an earlier attempt.
 */
export type ApprovalRequired = Replayed & {
  event: 'approval_required'
  at: string
  approval_id: string
  tool_name: string
  tool_id: string
  agent_name: string
  /** JSON as the model wrote it: shown to those who may decide, never to the logs. */
  arguments: string
  /** A digest of how the tool is configured. */
  definition: string
  approver: 'user' | 'admin'
  expires_at: string
}

/** It is not known whether a call was made, and its tool wants somebody to say so. */
export type ToolInDoubt = {
  event: 'tool_in_doubt'
  at: string
  tool_name: string
  tool_id: string
  agent_name: string
  /** JSON as the model wrote it: the user's data, never for the wire or the logs. */
  arguments: string
}

/** A call that waits for a decision, as those who may decide see it. */
export type PendingApproval = {
  approval_id: string
  tool_name: string
  agent_name: string
  arguments: unknown
  arguments_digest: string
  expires_at: string
}

export type TurnDone = {
  event: 'done'
  /** The answer as recorded; the tokens in order, but for PARALLEL_AGENTs, whose tokens mingle. */
  text: string
  agent: string
  finish_reason: FinishReason
  tool_calls?: readonly ToolCall[]
  /** The sum of all agents in the turn. */
  usage: Usage
  charges: readonly Charge[]
  /** The calls are the client's, and the turn resumes with their results. */
  waits?: true
  /** From where it goes on; never kept in memory after the turn. */
  suspended?: Suspended
  /** The turn is not over: it goes on once these are decided. */
  pending?: readonly PendingApproval[]
  /** It waits until somebody says whether a call was made. */
  in_doubt?: true
  /** The platform's limit that ended it. */
  limit?: ReachedLimit
}

/**
 * What happens in a turn, in order. Names and fields are those of
 * docs/contract/streaming.md#agent-events, with more for the recorder and the meter; `token`,
 * `model_called`, `model_answered` and `done` are ours alone. A turn that fails ends with an error
 * instead of `done`.
 */
export type AgentEvent =
  | AgentStarted
  | AgentCompleted
  | TokenEvent
  | BranchesBegan
  | BranchEnded
  | PaymentRequired
  | TurnDone
  /** Names the producer of the following tokens, once agents run in parallel. */
  | { event: 'token_agent'; agent: string; timestamp: string }
  | (Replayed & {
      event: 'agent_routing'
      at: string
      from_agent: string
      to_agent: string
      timestamp: string
    })
  | ModelCalled
  | ModelAnswered
  | ToolStarted
  | ToolCompleted
  | ApprovalRequired
  | ToolInDoubt
