import { z } from 'zod'
import type { ModelSettings } from '../../ports/model.ts'
import { list } from '../../support/bounded-schema.ts'
import { orAbsent } from './fields.ts'

const penalty = orAbsent(z.number().min(-2).max(2))
const tokens = orAbsent(z.int().min(1))

const mostStops = 4
const stopText = z.string().min(1).max(1_000)
const stop = z.union(
  [stopText, list(stopText).max(mostStops)],
  `A text of 1 to 1,000 characters is expected, or up to ${mostStops} of them`,
)

/**
 * OpenAI's parameters that are passed on to the model's provider
 * (docs/contract/chat.md#model-settings).
 */
export const modelSettingFields = {
  temperature: orAbsent(z.number().min(0).max(2)),
  top_p: orAbsent(z.number().min(0).max(1)),
  stop: orAbsent(stop),
  seed: orAbsent(z.int()),
  presence_penalty: penalty,
  frequency_penalty: penalty,
  max_tokens: tokens,
  max_completion_tokens: tokens,
  reasoning_effort: orAbsent(z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])),
  verbosity: orAbsent(z.enum(['low', 'medium', 'high'])),
}

const fields = z.object(modelSettingFields)

export type ModelSettingsSent = z.infer<typeof fields>

const names = fields.keyof().options

/** What a request sets, in the domain's names; undefined where it sets nothing. */
export const modelSettingsOf = (body: Partial<ModelSettingsSent>): ModelSettings | undefined => {
  if (names.every((name) => body[name] === undefined)) return undefined
  const stops = body.stop === undefined ? [] : [body.stop].flat()
  const settings = {
    temperature: body.temperature,
    topP: body.top_p,
    stop: stops.length === 0 ? undefined : stops,
    seed: body.seed,
    presencePenalty: body.presence_penalty,
    frequencyPenalty: body.frequency_penalty,
    // The newer name counts where both are there.
    maxTokens: body.max_completion_tokens === undefined ? body.max_tokens : undefined,
    maxCompletionTokens: body.max_completion_tokens,
    reasoningEffort: body.reasoning_effort,
    verbosity: body.verbosity,
  }
  const set = Object.entries(settings).filter(([, value]) => value !== undefined)
  return set.length === 0 ? undefined : Object.fromEntries(set)
}

/**
 * A parameter that would change the answer, and that is not offered: only values that change
 * nothing are accepted.
 */
export const notOffered = <Schema extends z.ZodType>(
  schema: Schema,
  isHarmless: (value: z.infer<Schema>) => boolean,
  message: string,
) =>
  schema.nullish().superRefine((value, { addIssue }) => {
    if (value === null || value === undefined || isHarmless(value)) return
    addIssue({ code: 'custom', message, params: { code: 'unsupported_parameter' } })
  })

/** No value is accepted. */
export const never = () => false

/** OpenAI's parameters that are refused as `unsupported_parameter`. */
export const unsupportedFields = {
  n: notOffered(z.int().min(1), (n) => n <= 1, 'A turn has one answer'),
  logprobs: notOffered(z.boolean(), (enabled) => !enabled, 'Probabilities are not given'),
  top_logprobs: notOffered(z.int().min(0), (n) => n === 0, 'Probabilities are not given'),
  logit_bias: notOffered(
    z.looseObject({}),
    (bias) => Object.keys(bias).length === 0,
    'Probabilities cannot be changed',
  ),
  modalities: notOffered(
    list(z.string()),
    (kinds) => kinds.every((kind) => kind === 'text'),
    'Only text is answered',
  ),
  audio: notOffered(z.unknown(), never, 'Only text is answered'),
  functions: notOffered(z.array(z.unknown()), (all) => all.length === 0, 'Send tools instead'),
  function_call: notOffered(
    z.unknown(),
    (choice) => choice === 'none' || choice === 'auto',
    'Send tool_choice instead',
  ),
  web_search_options: notOffered(z.unknown(), never, 'The web is not searched'),
  moderation: notOffered(z.unknown(), never, 'Nothing is moderated'),
}
