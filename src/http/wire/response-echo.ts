import { z } from 'zod'
import { orchestratorModel } from '../../../queries/list-models.ts'
import type { Echo } from '../../turns/turn.ts'
import type { ResponsesBody } from './responses.ts'

const format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    name: z.string(),
    description: z.string().nullable(),
    schema: z.record(z.string(), z.unknown()),
    strict: z.boolean(),
  }),
])

const functionTool = z.looseObject({
  type: z.literal('function'),
  name: z.string(),
  description: z.string().nullable(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
})

const modes = z.enum(['none', 'auto', 'required'])
const functionChoice = z.object({ type: z.literal('function'), name: z.string() })

const toolChoice = z.union([
  modes,
  functionChoice,
  z.object({ type: z.literal('allowed_tools'), mode: modes, tools: z.array(functionChoice) }),
])

/** What a response repeats of its request. */
export const echoFields = {
  model: z.string(),
  background: z.boolean(),
  frequency_penalty: z.number(),
  instructions: z.string().nullable(),
  max_output_tokens: z.int().nullable(),
  max_tool_calls: z.int().nullable().describe('Always null'),
  metadata: z.record(z.string(), z.string()),
  parallel_tool_calls: z.boolean(),
  presence_penalty: z.number(),
  previous_response_id: z.string().nullable(),
  prompt_cache_key: z.string().nullable(),
  reasoning: z.object({ effort: z.string().nullable(), summary: z.null() }),
  safety_identifier: z.string().nullable(),
  service_tier: z.string(),
  store: z.boolean(),
  temperature: z.number(),
  text: z.object({ format, verbosity: z.string().optional().describe('Where the request has it') }),
  tool_choice: toolChoice,
  tools: z.array(functionTool),
  top_logprobs: z.int().describe('Always 0'),
  top_p: z.number(),
  truncation: z.enum(['auto', 'disabled']),
}

const echo = z.object(echoFields)

/** The request's fields that a response repeats, with defaults for absent ones. */
export type ResponseEcho = z.infer<typeof echo>

/** Of a turn that was not asked for as a response. */
export const defaultEcho: ResponseEcho = {
  model: orchestratorModel,
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'default',
  store: true,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'auto',
}

const formatOf = (format: NonNullable<ResponsesBody['text']>['format']) =>
  format?.type === 'json_schema'
    ? { ...format, description: format.description ?? null, strict: format.strict ?? false }
    : format

const toolOf = (tool: NonNullable<ResponsesBody['tools']>[number]) => ({
  ...tool,
  type: 'function' as const,
  description: tool.description ?? null,
  parameters: tool.parameters ?? null,
  strict: tool.strict ?? null,
})

/** What differs from the defaults. */
const changesOf = (body: ResponsesBody): Partial<ResponseEcho> => {
  const { text, reasoning, tools } = body
  const format = formatOf(text?.format)
  const set = {
    model: body.model,
    background: body.background,
    frequency_penalty: body.frequency_penalty,
    instructions: body.instructions,
    max_output_tokens: body.max_output_tokens,
    metadata: body.metadata,
    parallel_tool_calls: body.parallel_tool_calls,
    presence_penalty: body.presence_penalty,
    previous_response_id: body.previous_response_id,
    prompt_cache_key: body.prompt_cache_key,
    reasoning: reasoning?.effort && { effort: reasoning.effort, summary: null },
    safety_identifier: body.safety_identifier,
    store: body.store,
    temperature: body.temperature,
    text: (format ?? text?.verbosity) && {
      format: format ?? defaultEcho.text.format,
      ...(text?.verbosity ? { verbosity: text.verbosity } : {}),
    },
    tool_choice: body.tool_choice,
    tools: tools?.map(toolOf),
    top_p: body.top_p,
    truncation: body.truncation,
  } satisfies { [Field in keyof ResponseEcho]?: ResponseEcho[Field] | null | undefined }
  const changes = Object.entries(set).filter(
    ([name, value]) =>
      value !== undefined && value !== null && value !== defaultEcho[name as keyof ResponseEcho],
  )
  return Object.fromEntries(changes) as Partial<ResponseEcho>
}

const storedEcho = echo.partial()

/** @throws for what no release has written */
export const echoFrom = (json: string | undefined): ResponseEcho =>
  json === undefined
    ? defaultEcho
    : ({ ...defaultEcho, ...storedEcho.parse(JSON.parse(json)) } as ResponseEcho)

/** The request's fields that a response repeats, and their form in the turn's stored events. */
export const echoOf = (body: ResponsesBody): { echo: ResponseEcho; stored: Echo } => {
  const changes = changesOf(body)
  const { instructions: _, text: __, tools: ___, tool_choice: ____, ...short } = changes
  return {
    echo: { ...defaultEcho, ...changes },
    stored: { json: JSON.stringify(changes), short: JSON.stringify(short) },
  }
}
