import { orchestratorModel } from '../../../queries/list-models.ts'
import type { TurnAsked } from '../../turns/begin/begin-turn.ts'
import { answerFormatOf, type ResponseFormat } from './answer-format.ts'
import { type ChatBody, conversationOf } from './chat.ts'
import { type ClientToolsSent, offeredKeywords, offeredTools } from './client-tools.ts'
import { type ModelSettingsSent, modelSettingsOf } from './model-settings.ts'

/** What chat completions and responses can ask of a turn, as chat completions name it. */
export type TurnSent = Pick<ChatBody, 'messages'> &
  Partial<
    ModelSettingsSent &
      ClientToolsSent &
      Pick<
        ChatBody,
        'model' | 'session_id' | 'session_hidden' | 'on_behalf_of' | 'target_agent_id'
      > & { response_format: ResponseFormat | undefined }
  >

/**
 * In the terms of turns. `keep`: the turn can be read again after its end; one of which only the answer is sent is not.
 * @throws Refusal
 */
export const turnAsked = (sent: TurnSent, keep: TurnAsked['keep']): TurnAsked => {
  const clientTools = offeredTools(sent)
  const { message, parts, system, before, results, after } = conversationOf(sent)
  return {
    message,
    parts,
    system,
    before,
    results,
    after,
    clientTools,
    keywordTools: offeredKeywords(sent),
    sessionId: sent.session_id,
    hidden: sent.session_hidden,
    onBehalfOf: sent.on_behalf_of,
    targetAgentId: sent.target_agent_id,
    model: sent.model ?? orchestratorModel,
    settings: modelSettingsOf(sent),
    format: answerFormatOf(sent.response_format),
    keep,
    whole: keep === false,
  }
}
