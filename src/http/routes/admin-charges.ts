import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindRunPlace } from '../../../queries/find-run-place.ts'
import type { ChargesQuery, GetCharges } from '../../../queries/get-charges.ts'
import { contentEvents } from '../../domain/content/events.ts'
import { position } from '../../domain/event.ts'
import type { HistoryOwner } from '../checks/history-owner.ts'
import { refusals } from '../errors/responses.ts'
import { pathId } from '../wire/fields.ts'

type Uses = {
  getCharges(query: ChargesQuery): ReturnType<GetCharges>
  findRunPlace: FindRunPlace
  history: HistoryOwner
}

const query = z
  .strictObject({ run_id: pathId.optional(), content_id: pathId.optional() })
  .refine(({ run_id, content_id }) => (run_id === undefined) !== (content_id === undefined), {
    error: 'Exactly one of run_id and content_id is expected',
    path: ['run_id'],
  })

const time = z.iso.datetime()

const amount = {
  credits: z.number(),
  micro_credits: z.int().describe('The same as a whole number: 1 credit = 1,000,000'),
}

const eventRef = z.object({
  event_id: z.string(),
  position,
  stream: z.string(),
  type: z.string(),
  at: time,
})

const price = z
  .object({
    prompt: z.number(),
    completion: z.number(),
    list: z
      .enum(['configured', 'built_in', 'default'])
      .nullable()
      .describe('`configured`: LLM_PRICES; `default`: for models in no list; null: not recorded'),
    recorded_at: time,
  })
  .describe('Credits per million tokens, which are micro-credits per token')

const tokens = { prompt_tokens: z.int(), completion_tokens: z.int() }

const modelTerm = z.object({
  kind: z.literal('model'),
  model: z.string(),
  ...tokens,
  price: price.nullable().describe('Null: an earlier release did not record it'),
  product: z
    .number()
    .nullable()
    .describe('Tokens times their price in micro-credits; rounded up, it is `micro_credits`'),
  ...amount,
  source_count: z.int(),
  sources: z
    .array(
      eventRef.extend({
        agent_name: z.string().nullable(),
        ...tokens,
        price: price.nullable(),
        estimated: z.boolean().describe('Of a call that had no end'),
      }),
    )
    .describe('The first 1,000'),
})

const correction = z.object({
  kind: z
    .enum(['limit', 'adjustment'])
    .describe('`limit`: the agent’s limit of credits; `adjustment`: no readable event explains it'),
  ...amount,
  sources: z.array(eventRef),
})

const generationTerm = z.object({
  kind: z.literal('generation'),
  content_type: contentEvents.ContentRequested.shape.requested,
  ...amount,
  sources: z.array(eventRef),
})

const charge = z.object({
  kind: z.enum(['run', 'generation']),
  reservation_id: z.string().describe('`runId` of the events in the payer’s account'),
  run_id: z.string().nullable(),
  session_id: z.string().nullable(),
  content_id: z.string().nullable(),
  attempt: z.int().nullable().describe('Of a generation'),
  payer_user_id: z.string(),
  agent_id: z.string().nullable(),
  status: z.enum(['open', 'completed', 'failed', 'cancelled', 'timed_out']),
  code: z.string().nullable(),
  ...tokens,
  ...amount,
  terms: z
    .array(z.discriminatedUnion('kind', [modelTerm, correction, generationTerm]))
    .describe('Their sum is the charge'),
  started_by: eventRef,
  stated_by: eventRef.nullable().describe('The event with the charge; null: it is open'),
  settled_by: eventRef
    .extend(amount)
    .nullable()
    .describe('The event in the payer’s account; null: none among the next 5,000 events'),
})

const charges = z.object({
  ...amount,
  charges: z.array(charge).describe('The run first, then each attempt of each generated item'),
  has_more: z.boolean().describe('Whether the run requested more than 200 generated items'),
})

/** What runs and generations cost, and why (docs/contract/charges.md). */
export const adminChargeRoutes =
  ({ getCharges, findRunPlace, history }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      `${history.at}/charges`,
      {
        config: history.rules,
        schema: {
          tags: ['admin: audit'],
          summary: 'Explain what a run or generated item cost, down to the events',
          params: history.params,
          querystring: query,
          response: {
            200: charges,
            ...refusals('admin', ...history.refused, 'run_not_found', 'content_not_found'),
          },
        },
      },
      async (request) => {
        const organizationId = await history.of(request)
        const { run_id: runId, content_id: contentId } = request.query
        if (contentId !== undefined) return getCharges({ organizationId, contentId })
        const id = runId ?? ''
        const place = await findRunPlace(organizationId, id)
        return getCharges({ organizationId, runId: id, place })
      },
    )
  }
