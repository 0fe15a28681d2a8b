import { z } from 'zod'
import { Refusal, refusal } from '../../domain/refusal.ts'
import { entries, list, within } from '../../support/bounded-schema.ts'
import { schemaFields } from './answer-format.ts'
import { allowedMode, functionFields, functionName, mostTools, toolsOf } from './client-tools.ts'
import { modelName, orAbsent, sessionId } from './fields.ts'
import { modelSettingFields, never, notOffered, unsupportedFields } from './model-settings.ts'
import { bodyOnBehalfOf } from './on-behalf-of.ts'
import { type ResolvedItem, responseInput } from './response-input.ts'
import { chatMessagesOf } from './said-items.ts'
import type { TurnSent } from './turn-input.ts'

const unsupported = { code: 'unsupported_parameter' }

/** Only functions: tools that OpenAI runs itself are refused by their type. */
const tool = z.object({
  type: z.string().superRefine((type, { addIssue }) => {
    if (type !== 'function')
      addIssue({
        code: 'custom',
        message: `Tools of type ${type} are not offered, only functions of yours`,
        params: unsupported,
        // What else such a tool has is not looked at.
        continue: false,
      })
  }),
  ...functionFields,
  allowed_callers: notOffered(
    list(z.string()),
    (callers) => callers.includes('direct'),
    'Only models call functions',
  ),
})

const functionChoice = z.object({ type: z.literal('function'), name: functionName })

const toolChoice = z.union(
  [
    allowedMode,
    functionChoice,
    z.object({
      type: z.literal('allowed_tools'),
      mode: allowedMode.default('auto'),
      tools: list(functionChoice).max(mostTools),
    }),
  ],
  'none, auto, required, {type: "function", name} or {type: "allowed_tools", mode, tools} is expected',
)

const format = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({ type: z.literal('json_schema'), ...schemaFields }),
  ],
  'type is one of text, json_object, json_schema',
)

/** Additions to an answer that OpenAI offers and this server never has. */
const harmless = [
  'code_interpreter_call.outputs',
  'computer_call_output.output.image_url',
  'file_search_call.results',
  'message.input_image.image_url',
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
  'web_search_call.results',
] as const

const included = z.string().superRefine((kind, { addIssue }) => {
  if (!harmless.some((name) => name === kind))
    addIssue({ code: 'custom', message: `${kind} is not given`, params: unsupported })
})

const mostPairs = 16
const metadata = within(
  { nodes: 100 },
  entries(z.string().max(64), z.string().max(512)).refine(
    (pairs) => Object.keys(pairs).length <= mostPairs,
    `At most ${mostPairs} pairs are kept`,
  ),
)

/** A name of the client's own, which the answer repeats. */
const ownText = z.string().max(512)

const runId = /^resp_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** The id of a turn as a response. */
export const responseId = (run: string): string => `resp_${run}`

/** The run that a response is; undefined for an id of impossible form. */
export const runOfResponse = (id: string): string | undefined => runId.exec(id)?.[1]

/**
 * Body of POST /v1/responses. Unknown parameters are tolerated
 * (docs/contract/responses.md#request).
 */
export const responsesBody = z.object({
  input: responseInput,
  model: orAbsent(modelName),
  instructions: orAbsent(z.string()),
  previous_response_id: orAbsent(z.string().max(256)),
  conversation: orAbsent(
    z.union([sessionId, z.object({ id: sessionId })], 'The id of a session is expected'),
  ),
  stream: z.boolean().nullish(),
  background: z.boolean().nullish(),
  tools: orAbsent(toolsOf(tool)),
  tool_choice: orAbsent(toolChoice),
  parallel_tool_calls: orAbsent(z.boolean()),
  store: orAbsent(z.boolean()),
  truncation: orAbsent(z.enum(['auto', 'disabled'])),
  safety_identifier: orAbsent(ownText),
  prompt_cache_key: orAbsent(ownText),
  text: orAbsent(
    z.object({
      format: orAbsent(format),
      verbosity: modelSettingFields.verbosity,
    }),
  ),
  max_output_tokens: modelSettingFields.max_completion_tokens,
  temperature: modelSettingFields.temperature,
  top_p: modelSettingFields.top_p,
  presence_penalty: modelSettingFields.presence_penalty,
  frequency_penalty: modelSettingFields.frequency_penalty,
  reasoning: orAbsent(
    z.object({
      effort: modelSettingFields.reasoning_effort,
      context: notOffered(z.string(), (kind) => kind !== 'all_turns', 'Thoughts are not kept'),
      mode: notOffered(z.string(), (mode) => mode === 'standard', 'There is one mode'),
    }),
  ),
  metadata: orAbsent(metadata),
  include: orAbsent(list(included)),
  top_logprobs: unsupportedFields.top_logprobs,
  prompt: notOffered(z.unknown(), never, 'Prompts are not kept here'),
  max_tool_calls: notOffered(z.unknown(), never, 'Calls of tools are not counted'),
  context_management: notOffered(
    z.array(z.unknown()),
    (rules) => rules.length === 0,
    'Conversations are not compacted',
  ),
  moderation: unsupportedFields.moderation,
  ...bodyOnBehalfOf.shape,
  session_hidden: orAbsent(z.boolean()),
  target_agent_id: orAbsent(z.uuid()),
})

export type ResponsesBody = z.infer<typeof responsesBody>

const chatFormatOf = (
  textFormat: z.infer<typeof format> | undefined,
): TurnSent['response_format'] => {
  if (textFormat?.type !== 'json_schema') return textFormat
  const { type, ...json_schema } = textFormat
  return { type, json_schema }
}

const chatFunction = ({ type, name }: z.infer<typeof functionChoice>) => ({
  type,
  function: { name },
})

const chatChoiceOf = (choice: ResponsesBody['tool_choice']): TurnSent['tool_choice'] => {
  if (typeof choice !== 'object') return choice
  if (choice.type === 'function') return chatFunction(choice)
  const { type, mode, tools } = choice
  return { type, allowed_tools: { mode, tools: tools.map(chatFunction) } }
}

const systemMessage = (text: string): ResolvedItem => ({
  type: 'message',
  role: 'system',
  content: [{ type: 'input_text', text }],
})

/** What chat completions would be asked for the same turn. @throws invalid_input */
export const turnSentOf = (body: ResponsesBody, items: readonly ResolvedItem[]): TurnSent => {
  const { instructions, conversation, previous_response_id } = body
  if (conversation !== undefined && previous_response_id !== undefined)
    throw refusal('invalid_input', {
      field: 'previous_response_id',
      message: 'Either previous_response_id or conversation is given',
    })
  return {
    messages: chatMessagesOf(
      instructions === undefined ? items : [systemMessage(instructions), ...items],
    ),
    model: body.model,
    session_id: typeof conversation === 'object' ? conversation.id : conversation,
    session_hidden: body.session_hidden,
    on_behalf_of: body.on_behalf_of,
    target_agent_id: body.target_agent_id,
    tools: body.tools?.map(({ type: _, ...described }) => ({
      type: 'function' as const,
      function: described,
    })),
    tool_choice: chatChoiceOf(body.tool_choice),
    parallel_tool_calls: body.parallel_tool_calls,
    response_format: chatFormatOf(body.text?.format),
    temperature: body.temperature,
    top_p: body.top_p,
    presence_penalty: body.presence_penalty,
    frequency_penalty: body.frequency_penalty,
    max_completion_tokens: body.max_output_tokens,
    reasoning_effort: body.reasoning?.effort,
    verbosity: body.text?.verbosity,
  }
}

/** Parameters of chat completions that responses have under another name. */
const renamed: Readonly<Record<string, string>> = {
  messages: 'input',
  'response_format.json_schema.schema': 'text.format.schema',
  session_id: 'conversation',
}

/** Without a field of their own. */
const aboutPrevious: ReadonlySet<string> = new Set(['response_not_found', 'response_continued'])

/** A refusal of a turn with the parameter as responses name it. */
export const inResponseNames = (error: unknown): unknown => {
  if (!(error instanceof Refusal)) return error
  const { facts, code, message, by } = error
  const { field = '' } = facts
  if (field === '' && aboutPrevious.has(code))
    return refusal(code, { ...facts, field: 'previous_response_id' }, by)
  const name = Object.hasOwn(renamed, field) ? renamed[field] : undefined
  if (name === undefined) return error
  return refusal(code, { ...facts, field: name, message: message.replaceAll(field, name) }, by)
}
