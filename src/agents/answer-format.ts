import type { AnswerFormat, ChatMessage } from '../ports/model.ts'
import type { RuntimePorts } from './agent-kind.ts'
import type { AgentTurn } from './turn.ts'

const anyObject = { type: 'object' }

/** Why an answer does not fit the format of its turn; undefined when it does. */
export const answerMisfit = async (
  { textMisfitOf }: Pick<RuntimePorts, 'textMisfitOf'>,
  { call }: AgentTurn,
  format: AnswerFormat,
  text: string,
): Promise<string | undefined> => {
  const schema = format.type === 'json_object' ? anyObject : format.schema
  return (await textMisfitOf(call.organizationId, schema, text))?.misfit
}

const demand = 'Answer with one JSON object, and with nothing else.'

/**
 * A prompt that says so where any JSON object will do: providers refuse one without the word JSON.
 */
export const inFormat = (
  format: AnswerFormat,
  prompt: readonly ChatMessage[],
): readonly ChatMessage[] => {
  if (format.type !== 'json_object') return prompt
  const [first, ...rest] = prompt
  return first?.role === 'system'
    ? [{ role: 'system', content: `${first.content}\n\n${demand}` }, ...rest]
    : [{ role: 'system', content: demand }, ...prompt]
}

/** Tells a model what was wrong with its answer, and asks again. */
export const correction = (format: AnswerFormat, text: string, misfit: string): ChatMessage[] => {
  const fitting =
    format.type === 'json_object'
      ? demand
      : `Answer with JSON that fits this schema, and with nothing else: ${JSON.stringify(format.schema)}`
  return [
    { role: 'assistant', content: text },
    { role: 'user', content: `This cannot be used: ${misfit}. ${fitting}` },
  ]
}
