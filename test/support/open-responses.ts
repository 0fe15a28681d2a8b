import { z } from 'zod'

// What Open Responses (2026-04-24) says of answers and events, as far as they come up here.

const count = z.int().min(0)

const outputText = z.object({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()).optional(),
})

const status = z.enum(['in_progress', 'completed', 'incomplete'])

const item = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message'),
    id: z.string().min(1),
    status,
    role: z.literal('assistant'),
    content: z.array(outputText),
  }),
  z.object({
    type: z.literal('function_call'),
    id: z.string().min(1),
    call_id: z.string().min(1),
    name: z.string().min(1),
    arguments: z.string(),
    status,
  }),
])

const mode = z.enum(['none', 'auto', 'required'])
const functionChoice = z.object({ type: z.literal('function'), name: z.string() })

const usage = z
  .object({
    input_tokens: count,
    output_tokens: count,
    total_tokens: count,
    input_tokens_details: z.object({ cached_tokens: count }),
    output_tokens_details: z.object({ reasoning_tokens: count }),
  })
  .refine(({ input_tokens, output_tokens, total_tokens }) => {
    return input_tokens + output_tokens === total_tokens
  })

const response = z
  .object({
    id: z.string().min(1),
    object: z.literal('response'),
    created_at: count,
    completed_at: count.nullable(),
    status: z.enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']),
    incomplete_details: z.object({ reason: z.string() }).nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    output: z.array(item),
    usage: usage.nullable(),
    model: z.string(),
    previous_response_id: z.string().nullable(),
    instructions: z.string().nullable(),
    tools: z.array(
      z.object({
        type: z.literal('function'),
        name: z.string(),
        description: z.string().nullable(),
        parameters: z.record(z.string(), z.unknown()).nullable(),
        strict: z.boolean().nullable(),
      }),
    ),
    tool_choice: z.union([
      mode,
      functionChoice,
      z.object({ type: z.literal('allowed_tools'), mode, tools: z.array(functionChoice) }),
    ]),
    truncation: z.enum(['auto', 'disabled']),
    parallel_tool_calls: z.boolean(),
    text: z.object({
      format: z.discriminatedUnion('type', [
        z.object({ type: z.literal('text') }),
        z.object({ type: z.literal('json_object') }),
        z.object({
          type: z.literal('json_schema'),
          name: z.string(),
          description: z.string().nullable(),
          schema: z.record(z.string(), z.unknown()),
          strict: z.boolean(),
        }),
      ]),
      verbosity: z.enum(['low', 'medium', 'high']).optional(),
    }),
    temperature: z.number(),
    top_p: z.number(),
    presence_penalty: z.number(),
    frequency_penalty: z.number(),
    top_logprobs: count,
    reasoning: z.object({ effort: z.string().nullable(), summary: z.string().nullable() }),
    max_output_tokens: count.nullable(),
    max_tool_calls: count.nullable(),
    store: z.boolean(),
    background: z.boolean(),
    service_tier: z.string(),
    metadata: z.record(z.string(), z.string()),
    safety_identifier: z.string().nullable(),
    prompt_cache_key: z.string().nullable(),
  })
  .refine(
    (response) => (response.completed_at !== null) === (response.status === 'completed'),
    'completed_at',
  )
  .refine((response) => (response.error !== null) === (response.status === 'failed'), 'error')
  .refine(
    (response) => (response.incomplete_details !== null) === (response.status === 'incomplete'),
    'details',
  )

const ofItem = { item_id: z.string(), output_index: count }
const ofPart = { ...ofItem, content_index: count }

const event = <Type extends string>(type: Type, fields: z.ZodRawShape) =>
  z.object({ type: z.literal(type), sequence_number: count, ...fields })

const events = z.discriminatedUnion('type', [
  event('response.created', { response }),
  event('response.in_progress', { response }),
  event('response.completed', { response }),
  event('response.incomplete', { response }),
  event('response.failed', { response }),
  event('response.output_item.added', { output_index: count, item }),
  event('response.output_item.done', { output_index: count, item }),
  event('response.content_part.added', { ...ofPart, part: outputText }),
  event('response.content_part.done', { ...ofPart, part: outputText }),
  event('response.output_text.delta', { ...ofPart, delta: z.string() }),
  event('response.output_text.done', { ...ofPart, text: z.string() }),
  event('response.function_call_arguments.delta', { ...ofItem, delta: z.string() }),
  event('response.function_call_arguments.done', { ...ofItem, arguments: z.string() }),
  event('error', {
    error: z.object({
      type: z.string(),
      code: z.string().nullable(),
      message: z.string(),
      param: z.string().nullable(),
    }),
  }),
])

const faultsIn = (schema: z.ZodType, value: unknown): string[] => {
  const { error } = schema.safeParse(value)
  return error ? error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) : []
}

/** Where an answer is not a response of Open Responses. */
export const responseFaults = (body: unknown): string[] => faultsIn(response, body)

/** Where an event is not one of Open Responses. */
export const eventFaults = (event: unknown): string[] => faultsIn(events, event)

// biome-ignore lint/suspicious/noExplicitAny: tests read any field
type Event = any

const pattern = /^event: (?<type>\S+)\n(?:id: (?<id>\d+)\n)?data: (?<data>[^\n]+)$/

/**
 * The event of one item of a stream, and its faults; undefined for the final `[DONE]`. `numbered`:
 * it has an `id:` line.
 */
export const eventIn = (
  block: string,
  numbered = false,
): { event: Event; faults: string[] } | undefined => {
  if (block === 'data: [DONE]') return undefined
  const { type, id, data = 'null' } = pattern.exec(block)?.groups ?? {}
  const parsed = JSON.parse(data)
  const lines = parsed?.type === type && id === (numbered ? `${parsed.sequence_number}` : undefined)
  return { event: parsed, faults: [...(lines ? [] : [`lines: ${block}`]), ...eventFaults(parsed)] }
}
