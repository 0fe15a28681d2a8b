import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { GrantCreditsCommand } from '../../../commands/grant-credits.ts'
import type { RecordLoginCommand } from '../../../commands/record-login.ts'
import type { SetSubscriptionCommand } from '../../../commands/set-subscription.ts'
import type { FindIdentity } from '../../../queries/find-identity.ts'
import { creditUnit } from '../../domain/amounts.ts'
import { refusals } from '../errors/responses.ts'
import { credits, email, givenId, id, orAbsent, pathId, plan } from '../wire/fields.ts'

type Uses = {
  setSubscription: SetSubscriptionCommand
  grantCredits: GrantCreditsCommand
  recordLogin: RecordLoginCommand
  findIdentity: FindIdentity
}

const params = z.object({ user_id: pathId })
const word = z.string().trim().min(1).max(200)

const balances = z.object({
  user_id: id,
  credit_balance: z.number(),
  effective_balance: z.number(),
})

const login = z.object({
  user_id: id,
  created: z.boolean(),
  activated_organization_ids: z.array(id),
  pending_organization_ids: z.array(id).describe('Invitations that were not accepted yet'),
  current_organization_id: id.nullable(),
})

const acceptance = z.object({ organization_id: givenId, allow_backing: orAbsent(z.boolean()) })

/**
 * What only the platform decides about users: plan, credits, sign-ins
 * (docs/contract/admin-api.md#platform-only).
 */
export const adminUserRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { setSubscription, grantCredits, recordLogin, findIdentity } = uses
    const config = { platform: true } as const
    const tags = ['admin: users']

    http.put(
      '/users/:user_id/subscription',
      {
        config,
        schema: {
          tags,
          summary: 'Set a user’s plan; null removes it',
          params,
          body: z.object({ plan }),
          response: {
            200: z.object({ user_id: id, plan }),
            ...refusals('admin', 'platform_only', 'user_not_found', 'invalid_input'),
          },
        },
      },
      async ({ params: { user_id }, body: { plan }, call }) => {
        await setSubscription({ userId: user_id, plan }, call)
        return { user_id, plan }
      },
    )

    http.post(
      '/users/:user_id/credits',
      {
        config,
        schema: {
          tags,
          summary: 'Grant credits; a negative amount takes them back',
          params,
          body: z.object({ amount: credits(-1e9, 1e9), reason: word }),
          response: {
            200: balances,
            ...refusals(
              'admin',
              'platform_only',
              'user_not_found',
              'invalid_input',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async ({ params: { user_id }, body, call }) => {
        const amount = Math.round(body.amount * creditUnit)
        const grant = { userId: user_id, amount, reason: body.reason }
        const { balance, effectiveBalance } = await grantCredits(grant, call)
        return {
          user_id,
          credit_balance: balance / creditUnit,
          effective_balance: effectiveBalance / creditUnit,
        }
      },
    )

    http.post(
      '/identity/logins',
      {
        config,
        schema: {
          tags,
          summary: 'Record a sign-in that an identity provider has confirmed',
          body: z.object({
            email,
            provider: word,
            subject: word,
            email_verified: orAbsent(z.boolean()).describe(
              'false: the address finds no account and changes none',
            ),
            accept: orAbsent(z.array(acceptance).max(100)).describe(
              'Invitations that the person accepted while signing in',
            ),
          }),
          response: {
            200: login,
            ...refusals(
              'admin',
              'platform_only',
              'address_not_verified',
              'address_taken',
              'identity_conflict',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async ({ body, call }) => {
        const accept = body.accept?.map(({ organization_id, allow_backing = false }) => ({
          organizationId: organization_id,
          allowBacking: allow_backing,
        }))
        const linkedTo = await findIdentity(body.provider, body.subject)
        const { email_verified: verified, ...identity } = body
        const signIn = { ...identity, verified, accept, linkedTo }
        const { userId, created, joined, ...login } = await recordLogin(signIn, call)
        return {
          user_id: userId,
          created,
          activated_organization_ids: joined,
          pending_organization_ids: [...login.invitations],
          current_organization_id: login.currentOrganizationId,
        }
      },
    )
  }
