import type { ObservableInput } from 'rxjs'
import type { ToolSpec } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { Reached, ToolEffect } from './agent-event.ts'
import type { AgentTurn } from './turn.ts'

/** What the model is told. Of `ok: false` it is told that it is an error. */
export type ToolResult = { ok: boolean; content: string; reached?: Reached }

/** A tool that costs money of its own (x402): shown to the client, beside the tool's result. */
export type PaymentNotice = {
  message: string
  nonce: string
  network: string
  total_amount: string
}

export type ToolOutput = ToolResult | { payment: PaymentNotice }

export type ToolContext = {
  agent: AgentConfig
  turn: AgentTurn
  toolId: string
  /** The same whenever this call of this run is made, and of no other call. */
  idempotencyKey: string
  /** Aborts when the turn is cancelled, fails or times out, or the tool takes too long. */
  signal: AbortSignal
}

/** Somebody decides on a call before it is made, else it is denied by time. */
export type ToolApproval = {
  approver: 'user' | 'admin'
  ttlSeconds: number
}

/** What a tool's calls do elsewhere, and what is done about it. */
export type ToolPolicy = {
  effect: ToolEffect
  /** Calls carry their key, so that one that is made again is done once. */
  keyed: boolean
  /** Where it is not known whether a call was made. */
  onUnknown: 'tell' | 'ask'
  approval?: ToolApproval
}

/**
 * What an agent can call. Gives any number of payments and one result, later ones are dropped.
 * `args` is a JSON object as the model wrote it: check it. A failure the model should know of is a
 * result with `ok: false`; one that is thrown is told to it without its words.
 */
export type Tool = {
  spec: ToolSpec
  /** Absent: its calls do nothing elsewhere. */
  policy?: ToolPolicy
  /**
   * A digest of everything that decides the effect of a call besides its arguments. A call is made
   * only under the approved definition. Absent: calls have no outside effect.
   */
  definition?(): string
  /**
   * It changes nothing but the run it is called in: it is called anew when the run is replayed.
   */
  local?: true
  run(args: Readonly<Record<string, unknown>>, context: ToolContext): ObservableInput<ToolOutput>
}

/** How a tool's failure is told to the model, and by what it is known. */
export const errorPrefix = 'Error: '
