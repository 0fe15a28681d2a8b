import { orchestratorModel } from '../../../queries/list-models.ts'
import type {
  Delivery,
  MessageInput,
  SessionChoice,
  ToolResultsInput,
  TurnOptions,
} from '../../turns/begin/turn-input.ts'
import { answerFormatOf, type ResponseFormat } from './answer-format.ts'
import { type ChatBody, conversationOf } from './chat.ts'
import { type ClientToolsSent, offeredKeywords, offeredTools } from './client-tools.ts'
import { type ModelSettingsSent, modelSettingsOf } from './model-settings.ts'

/** The fields of a request that begin a turn, with the names of chat completions. */
export type TurnSent = Pick<ChatBody, 'messages'> &
  Partial<
    ModelSettingsSent &
      ClientToolsSent &
      Pick<
        ChatBody,
        'model' | 'session_id' | 'session_hidden' | 'on_behalf_of' | 'target_agent_id'
      > & { response_format: ResponseFormat | undefined }
  >

/** How a request wants its turn answered. @throws Refusal */
export const turnOptions = (
  sent: Omit<TurnSent, 'messages' | 'session_id'>,
  delivery: Delivery,
): Omit<TurnOptions, 'system'> => ({
  agent: {
    kind: 'orchestrator',
    targetAgentId: sent.target_agent_id,
    model: sent.model ?? orchestratorModel,
  },
  delivery,
  hidden: sent.session_hidden,
  onBehalfOf: sent.on_behalf_of,
  clientTools: offeredTools(sent),
  keywordTools: offeredKeywords(sent),
  settings: modelSettingsOf(sent),
  format: answerFormatOf(sent.response_format),
})

/** What a request says in its turn. @throws Refusal */
export const turnInput = (
  sent: TurnSent,
  delivery: Delivery,
  session: SessionChoice = { kind: 'id', sessionId: sent.session_id },
): TurnOptions & (MessageInput | ToolResultsInput) => {
  const options = turnOptions(sent, delivery)
  const { message: text, parts, system, before: history, results, after } = conversationOf(sent)
  return results
    ? {
        ...options,
        system,
        session,
        kind: 'tool_results',
        text,
        parts,
        history,
        results,
        after: after ?? [],
      }
    : { ...options, system, session, kind: 'message', text, parts, history }
}
