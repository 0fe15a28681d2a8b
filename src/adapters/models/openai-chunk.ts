import { z } from 'zod'
import type { Usage } from '../../ports/model.ts'
import { isObject } from '../../support/fields.ts'
import type { CallPiece } from './call-assembly.ts'

const id = z.union([z.string(), z.number().transform(String)])

/** Also as a text. */
const index = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number),
])

/** A text, or the object that it would be the JSON of. */
const callArguments = z.union([
  z.string(),
  z.record(z.string(), z.unknown()).transform((value) => JSON.stringify(value)),
])

const callPiece = z
  .object({
    index: index.pipe(z.int().min(0).max(127)).nullish().catch(undefined),
    id: id.nullish(),
    function: z
      .object({ name: z.string().nullish(), arguments: callArguments.nullish() })
      .nullish(),
  })
  .transform(
    ({ index, id, function: called }): CallPiece => ({
      index: index ?? undefined,
      id: id ?? '',
      name: called?.name ?? '',
      arguments: called?.arguments ?? '',
    }),
  )

const part = z.union([
  z.string(),
  z
    .object({ type: z.string().nullish(), text: z.unknown().optional() })
    .transform(({ type, text }) =>
      typeof text === 'string' && /^(?:output_)?text$/.test(type ?? 'text') ? text : '',
    ),
])

/** A text, or parts of which those that are text are read, and no thoughts. */
const content = z.union([z.string(), z.array(part).transform((parts) => parts.join(''))])

const messageFields = z.object({
  content: content.nullish(),
  refusal: z.string().nullish(),
  tool_calls: z.union([z.array(callPiece), callPiece.transform((call) => [call])]).nullish(),
})

/** The fields of a chunk that are read; others are ignored. */
const openAiChunk = z.object({
  object: z.unknown().optional(),
  type: z.unknown().optional(),
  choices: z
    .array(
      z.object({
        delta: messageFields.nullish(),
        /** In place of `delta`. */
        message: messageFields.nullish(),
        finish_reason: z.string().nullish().catch(undefined),
        error: z.unknown().optional(),
      }),
    )
    .nullish(),
  usage: z.unknown().optional(),
  error: z.unknown().optional(),
})

/** What a chunk says. */
export type HeardChunk = {
  text?: string | null | undefined
  refusal?: string | null | undefined
  calls?: readonly CallPiece[] | null | undefined
  reason?: string | null | undefined
  /** Null: a count that cannot be used. */
  usage?: Usage | null | undefined
  /** It is a message, which may repeat what earlier chunks have said. */
  isMessage?: boolean
  isError?: boolean
}

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
  if (!isObject(choice) || !isAbsent(choice.error)) return undefined
  const { delta, finish_reason: reason } = choice
  if (!isAbsent(reason) && typeof reason !== 'string') return undefined
  if (!isObject(delta) || !isAbsent(delta.tool_calls) || !isAbsent(delta.refusal)) return undefined
  const { content: text } = delta
  return isAbsent(text) || typeof text === 'string' ? { text, reason, usage } : undefined
}

/** Any chunk, also in an array; undefined: it is not in the protocol. */
export const chunkIn = (value: unknown): HeardChunk | undefined => {
  const result = openAiChunk.safeParse(Array.isArray(value) ? value[0] : value)
  if (!result.success) return undefined
  const { object, type, choices, usage, error } = result.data
  const { delta, message, finish_reason: reason, error: itsError } = choices?.[0] ?? {}
  const { content: text, refusal, tool_calls: calls } = delta ?? message ?? {}
  return {
    text,
    refusal,
    calls,
    reason,
    usage: isAbsent(usage) ? undefined : (usageIn(usage) ?? null),
    isMessage: !delta && !isAbsent(message),
    isError: !isAbsent(error) || !isAbsent(itsError) || object === 'error' || type === 'error',
  }
}
