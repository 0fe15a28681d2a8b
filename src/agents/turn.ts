import type { Call } from '../ports/call.ts'
import type { AnswerFormat, ChatMessage, ModelSettings } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'

/** One message of a user and all that is needed to answer it. */
export type AgentTurn = {
  call: Call
  sessionId: string
  /** The agent the turn is given to. */
  agent: AgentConfig
  /** The organization's agents, by id, as they were when the turn began. */
  agents: ReadonlyMap<string, AgentConfig>
  /** Routes past the model: `agent` hands the turn straight to this one. */
  target?: AgentConfig
  message: string
  /** What was said before, oldest first; system messages apply to this turn. */
  history: readonly ChatMessage[]
  /** Of the caller, for this turn; they win over the agent's own. */
  settings?: ModelSettings
  /** What the answer of the turn must be; it is then given whole, once it was checked. */
  format?: AnswerFormat
}
