import type { AgentConfig } from '../agents/agent.ts'
import type { TurnDone } from '../agents/agent-event.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { Viewer } from '../domain/session/session.ts'
import type { Call } from '../ports/call.ts'
import type { ChatMessage } from '../ports/model.ts'
import type { TurnLog } from './turn-log.ts'

/** What a client asks of a session: one message, and how to answer it. */
export type TurnRequest = {
  call: Call
  viewer: Viewer
  sessionId: string
  /** Undefined: as the session is. */
  hidden: boolean | undefined
  message: string
  /** System messages, which apply to this turn. */
  system: readonly ChatMessage[]
  /** What the client says came before; used where the session has no stored history. */
  before: readonly ChatMessage[]
  /** The agent the turn is given to. */
  agent: AgentConfig
  /** The organization's agents, by id, as they are when the turn is taken in. */
  agents: ReadonlyMap<string, AgentConfig>
  /** Routes past the orchestrator's choice, straight to this agent. */
  target?: AgentConfig
  temperature?: number
  maxTokens?: number
  /** The same for a request that is repeated (idempotency key). */
  messageId: string
  /** Where a stock SDK may repeat the request. */
  fingerprint?: string
  /** The key's backing user, who is charged. */
  payerId: string
}

/** How a turn ended for its client. */
export type Outcome =
  | { status: 'completed' | 'cancelled'; done: TurnDone }
  | { status: 'failed'; refusal: Refusal }

/** A turn under way, or ended and kept to be read again. */
export type LiveTurn = {
  runId: string
  sessionId: string
  organizationId: string
  /** The agent it was given to; undefined in what was stored before that was kept. */
  agentId: string | undefined
  /** Unix seconds. */
  created: number
  log: TurnLog
  /** Once its message is stored: whose session it is in, and where in the log it began. */
  begun?: { ownerId: string; keyId: string | null; position: number }
  /**
   * Settles when the message is stored and its run begins: with this turn, or with the earlier one
   * where the message was sent before and its answer stands. Rejects with the refusal.
   */
  started: Promise<LiveTurn>
  /** Settles when the turn's end is stored and can be read back; never rejects. */
  outcome: Promise<Outcome>
  cancel(): void
}
