import { z } from 'zod'
import type { FinishReason, Usage } from '../../ports/model.ts'

const callDelta = z.object({
  index: z.int().min(0).max(127).nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
})

/** The fields of a chunk that are read; others are ignored. */
const openAiChunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .object({
            content: z.string().nullish(),
            refusal: z.string().nullish(),
            tool_calls: z.array(callDelta).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
})

/** A piece of a tool call. */
export type CallDelta = z.infer<typeof callDelta>

/** What a chunk says. */
export type HeardChunk = {
  text?: string | null | undefined
  refusal?: string | null | undefined
  calls?: readonly CallDelta[] | null | undefined
  reason?: string | null | undefined
  usage?: Usage | undefined
  isError?: boolean
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isAbsent = (value: unknown): value is undefined | null =>
  value === undefined || value === null

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

/** Undefined: no count, or an impossible one, such as a negative number. */
const usageIn = (usage: unknown): Usage | undefined => {
  if (!isObject(usage)) return undefined
  const { prompt_tokens, completion_tokens } = usage
  return isCount(prompt_tokens) && isCount(completion_tokens)
    ? { promptTokens: prompt_tokens, completionTokens: completion_tokens }
    : undefined
}

/**
 * A chunk with at most a text, an end and the usage, as nearly all are; undefined for any other,
 * which the schema is for. What it accepts, the schema accepts.
 */
export const usualChunk = (chunk: unknown): HeardChunk | undefined => {
  if (!isObject(chunk) || !isAbsent(chunk.error)) return undefined
  const { choices } = chunk
  const usage = usageIn(chunk.usage)
  if (!usage && !isAbsent(chunk.usage)) return undefined
  if (!Array.isArray(choices) || choices.length > 1) return undefined
  if (choices.length === 0) return { usage }
  const choice: unknown = choices[0]
  if (!isObject(choice)) return undefined
  const { delta, finish_reason: reason } = choice
  if (!isAbsent(reason) && typeof reason !== 'string') return undefined
  if (!isObject(delta) || !isAbsent(delta.tool_calls) || !isAbsent(delta.refusal)) return undefined
  const { content: text } = delta
  return isAbsent(text) || typeof text === 'string' ? { text, reason, usage } : undefined
}

/** Any chunk; undefined: it is not in the protocol. */
export const chunkIn = (value: unknown): HeardChunk | undefined => {
  const found = openAiChunk.safeParse(value)
  if (!found.success) return undefined
  const { choices, usage, error } = found.data
  const { delta, finish_reason: reason } = choices?.[0] ?? {}
  return {
    text: delta?.content,
    refusal: delta?.refusal,
    calls: delta?.tool_calls,
    reason,
    usage: usageIn(usage),
    isError: !isAbsent(error),
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
}

export const finishReasonOf = (reason: string): FinishReason =>
  Object.hasOwn(reasons, reason) ? (reasons[reason] ?? 'stop') : 'stop'
