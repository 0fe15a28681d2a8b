import type { AgentConfig } from '../../agents/agent.ts'
import type { ClientTools } from '../../agents/turn.ts'
import type { AnswerFormat, ChatMessage, ModelSettings } from '../../ports/model.ts'
import type { Echo, ToolAnswer } from '../turn.ts'
import type { SentMessage, SentPart } from './sent-parts.ts'

/** The session of a turn: by its id (undefined: a new one), or that of the run that it follows. */
export type SessionChoice =
  | { kind: 'id'; sessionId: string | undefined }
  | { kind: 'after_run'; runId: string }

/** What a client says in a turn. */
type Conversation = {
  text: string
  /** Files of the message. */
  parts: readonly SentPart[]
  /** Earlier messages as the client sends them. */
  history: readonly SentMessage[]
  session: SessionChoice
}

export type MessageInput = Conversation & { kind: 'message' }

/**
 * Results of the client's tools, with which a turn continues. `after` is the client's copy of that
 * turn: of one from elsewhere, it is given to the agents behind the message.
 */
export type ToolResultsInput = Conversation & {
  kind: 'tool_results'
  results: readonly ToolAnswer[]
  after: readonly ChatMessage[]
}

/** Repeats a turn, in a fork of its session that ends before the turn's message. */
export type RegenerateInput = {
  kind: 'regenerate'
  sessionId: string
  messageId: string
  /** Of the fork; undefined: a new id. */
  forkSessionId: string | undefined
}

/** The agent of a turn. It hands the turn straight to `targetAgentId`. */
export type AgentChoice =
  /** `model` is a target too where it is the id of an active agent; other names are ignored. */
  | { kind: 'orchestrator'; targetAgentId?: string | undefined; model?: string | undefined }
  /** `anyType`: it may be of any type; else it has to be an LLM agent. */
  | { kind: 'agent'; agentId: string; anyType: boolean; targetAgentId?: string | undefined }
  /** An agent that is not saved; it stands for the saved one of its id, if there is one. */
  | { kind: 'draft'; agent: AgentConfig }

/** How the client gets the answer: whole, whole with progress, as it comes, or by asking for it. */
export type Delivery = 'whole' | 'progress' | 'streamed' | 'background'

/** How a turn is to be answered, whatever begins it. */
export type TurnOptions = {
  agent: AgentChoice
  delivery: Delivery
  /** System messages, which apply to this turn. */
  system: readonly ChatMessage[]
  /** Undefined: leave the session as it is. */
  hidden: boolean | undefined
  onBehalfOf: string | undefined
  /** The client's own tools that agents may call. */
  clientTools?: Omit<ClientTools, 'callId'> | undefined
  /** Tools that an answer may call by its words; absent: all of them. */
  keywordTools?: readonly string[] | undefined
  settings?: ModelSettings | undefined
  format?: AnswerFormat | undefined
  /** What its answer repeats of the request. */
  echo?: Echo | undefined
}

/** What begins a turn; each kind has exactly the fields that it needs. */
export type TurnInput = TurnOptions & (MessageInput | ToolResultsInput | RegenerateInput)
