import type {
  AnswerFormat,
  ChatMessage,
  ContentPart,
  ModelRequest,
  ModelSettings,
  ToolChoice,
  ToolSpec,
} from '../../ports/model.ts'
import { callArguments } from './call-assembly.ts'
import { type RequestBody, requestBody } from './request-body.ts'

/** Stands for a part's bytes in base64. */
type File = (part: ContentPart) => string

const partOf = (part: ContentPart, file: File) => {
  const { kind, mediaType, detail, name } = part
  if (kind === 'audio')
    return {
      type: 'input_audio',
      input_audio: { data: file(part), format: mediaType === 'audio/mpeg' ? 'mp3' : 'wav' },
    }
  const url = `data:${mediaType};base64,${file(part)}`
  return kind === 'image'
    ? { type: 'image_url', image_url: { url, detail } }
    : { type: 'file', file: { filename: name ?? 'file', file_data: url } }
}

/** Text and files in the order in which they were said. */
const contentOf = (content: string, parts: readonly ContentPart[], file: File) => {
  const items: unknown[] = []
  let from = 0
  const say = (to: number) => {
    // Texts are kept joined by line breaks.
    const joined = from > 0 && content.charAt(from) === '\n' ? from + 1 : from
    const text = content.slice(joined, to)
    if (text !== '') items.push({ type: 'text', text })
    from = Math.max(from, to)
  }
  for (const part of parts) {
    say(part.at)
    items.push(partOf(part, file))
  }
  say(content.length)
  return items
}

const messageOf = (message: ChatMessage, file: File) => {
  if (message.role === 'tool')
    return { role: 'tool', tool_call_id: message.toolCallId, content: message.content }
  if (message.role !== 'assistant' && message.parts?.length)
    return { role: message.role, content: contentOf(message.content, message.parts, file) }
  if (message.role !== 'assistant' || !message.toolCalls?.length)
    return { role: message.role, content: message.content }
  return {
    role: 'assistant',
    content: message.content || null,
    tool_calls: message.toolCalls.map(({ id, name, arguments: args }) => ({
      id,
      type: 'function',
      // Strict providers refuse what is no JSON, also in the history of a client.
      function: { name, arguments: callArguments(args) },
    })),
  }
}

const settingsOf = (settings: ModelSettings) => ({
  temperature: settings.temperature,
  top_p: settings.topP,
  stop: settings.stop,
  seed: settings.seed,
  presence_penalty: settings.presencePenalty,
  frequency_penalty: settings.frequencyPenalty,
  max_tokens: settings.maxTokens,
  max_completion_tokens: settings.maxCompletionTokens,
  reasoning_effort: settings.reasoningEffort,
  verbosity: settings.verbosity,
})

const formatOf = ({ type, ...schema }: AnswerFormat) =>
  type === 'json_object' ? { type } : { type, json_schema: schema }

const toolOf = ({ name, description, parameters, strict }: ToolSpec) => ({
  type: 'function',
  function: { name, description, parameters, strict },
})

const choiceOf = (choice: ToolChoice) =>
  choice === 'required' ? choice : { type: 'function', function: choice }

const toolsOf = ({ tools, toolChoice, parallelToolCalls }: ModelRequest) =>
  tools?.length
    ? {
        tools: tools.map(toolOf),
        ...(toolChoice ? { tool_choice: choiceOf(toolChoice) } : {}),
        ...(parallelToolCalls === undefined ? {} : { parallel_tool_calls: parallelToolCalls }),
      }
    : {}

/** The request's body, always asking for a stream with usage. */
export const requestBodyOf = (request: ModelRequest): RequestBody => {
  const { model, messages } = request
  return requestBody((file) => ({
    model,
    messages: messages.map((message) => messageOf(message, file)),
    ...toolsOf(request),
    ...settingsOf(request),
    response_format: request.format && formatOf(request.format),
    stream: true,
    stream_options: { include_usage: true },
  }))
}
