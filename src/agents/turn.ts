import type { AgentLimits } from '../domain/run-limits.ts'
import type { Call } from '../ports/call.ts'
import type {
  AnswerFormat,
  ChatMessage,
  ContentPart,
  ModelSettings,
  ToolChoice,
  ToolSpec,
} from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { Journal } from './journal.ts'
import type { Suspended } from './suspended.ts'
import type { TokenMeter } from './token-meter.ts'

/** Functions of the client that agents may call; it brings the results in a later turn. */
export type ClientTools = {
  /** Marked as the client's. */
  specs: readonly ToolSpec[]
  choice?: ToolChoice
  /** False: an answer has at most one call. */
  parallel?: boolean
  /** The id of the next call, known to the client. */
  callId(): string
}

/** One message of a user and all that is needed to answer it. */
export type AgentTurn = {
  call: Call
  runId: string
  sessionId: string
  /** The agent the turn is given to. */
  agent: AgentConfig
  /** The organization's agents, by id, as they were when the turn began. */
  agents: ReadonlyMap<string, AgentConfig>
  /** Routes past the model: `agent` hands the turn straight to this one. */
  target?: AgentConfig
  message: string
  /** Files of the message. */
  parts?: readonly ContentPart[]
  /** What was said before, oldest first; system messages apply to this turn. */
  history: readonly ChatMessage[]
  /** Of the caller, for this turn; they win over the agent's own. */
  settings?: ModelSettings
  /** What the answer of the turn must be; it is then given whole, once it was checked. */
  format?: AnswerFormat
  /** What was said and called after the message, by agents elsewhere. */
  after?: readonly ChatMessage[]
  clientTools?: ClientTools
  /** Tools that an answer may call by its words; absent: all of them. */
  keywordTools?: readonly string[]
  /** Goes on where agents waited for the client's results, which are by call id. */
  resume?: { from: Suspended; results: ReadonlyMap<string, string> }
  /** Of the whole run, in all its attempts; absent: none but the platform's. */
  limits?: AgentLimits
  /** What is recorded of the run; absent where nothing is. */
  journal?: Journal
  /** Nobody follows the text as it comes: a model may give it in one piece. */
  whole?: boolean
  /** Told all events by the runtime, where the host wants to know what was used before the end. */
  meter?: TokenMeter
}
