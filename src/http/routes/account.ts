import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { creditUnit } from '../../domain/amounts.ts'
import type { FindBalance } from '../../turns/begin/require-subscription.ts'
import type { StorageQuotas } from '../../turns/begin/storage-quotas.ts'
import { ceilingOf } from '../checks/admission.ts'
import { refusals } from '../errors/responses.ts'
import { id } from '../wire/fields.ts'

const account = z.object({
  user_id: id.nullable().describe('Who pays: the key’s backing user'),
  plan: z.string().nullable(),
  limits: z.object({
    requests_per_minute: z.int(),
    requests_per_hour: z.int(),
    requests_at_once: z.int(),
  }),
  credit_balance: z.number(),
  effective_balance: z.number().describe('Less what open runs hold back'),
  storage: z
    .object({ used_bytes: z.int(), quota_bytes: z.int() })
    .describe('Files and texts of the organization'),
})

type Uses = { findBalance: FindBalance; quotas: Pick<StorageQuotas, 'of'> }

/** GET /api/external/account (docs/contract/requests.md#the-account). */
export const accountRoutes =
  ({ findBalance, quotas }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.get(
      '/account',
      {
        config: { group: 'chat', scopes: ['orchestrator:invoke'] },
        schema: {
          tags: ['me'],
          summary: 'Plan, limits and balance of whoever pays for the key’s requests',
          response: { 200: account, ...refusals('chat') },
        },
      },
      async ({ access }) => {
        const { userId, plan, limits } = access
        const balance = userId === null ? undefined : await findBalance(userId)
        const { used, quota } = await quotas.of(access)
        const { requestsPerMinute = 0, requestsAtOnce = 0 } = ceilingOf(access) ?? {}
        return {
          user_id: userId,
          plan,
          limits: {
            requests_per_minute: Math.min(limits.minute, requestsPerMinute),
            requests_per_hour: limits.hour,
            requests_at_once: requestsAtOnce,
          },
          credit_balance: (balance?.balance ?? 0) / creditUnit,
          effective_balance: (balance?.effective ?? 0) / creditUnit,
          storage: { used_bytes: used, quota_bytes: quota },
        }
      },
    )
  }
