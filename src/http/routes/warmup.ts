import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { FindAgents } from '../../caches/find-agents.ts'
import { requireActive } from '../../domain/agent/runnable.ts'
import type { RequireSubscription } from '../../turns/begin/require-subscription.ts'
import type { WarmAgents } from '../../turns/begin/warm-agents.ts'
import { requireFor } from '../checks/authenticate.ts'
import { refusals } from '../errors/responses.ts'
import { orAbsent } from '../wire/fields.ts'
import { bodyOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  warmAgents: WarmAgents
  findAgents: FindAgents
  requireSubscription: RequireSubscription
}

const body = z
  .object({ ...bodyOnBehalfOf.shape, agent_id: orAbsent(z.uuid()) })
  .nullish()
  .transform((sent) => sent ?? { on_behalf_of: undefined, agent_id: undefined })

const warmed = z.object({
  status: z.enum(['built', 'warm']),
  took_ms: z.int(),
  organization_id: z.string(),
  user_id: z.string(),
  sub_agents: z.int(),
  tools: z.int(),
  agent_id: z.string().optional(),
  agent_ready: z.boolean().optional(),
})

/** Scopes that depend on the body (docs/contract/chat.md#warm-up). */
const scopesIn = (sent: unknown): string[] => {
  const { on_behalf_of, agent_id } = (sent ?? {}) as { on_behalf_of?: string; agent_id?: string }
  return [
    'orchestrator:invoke',
    ...(on_behalf_of ? ['users:delegate'] : []),
    ...(agent_id ? ['agents:invoke'] : []),
  ]
}

/** POST /api/external/v1/warmup: no model is called, nothing is charged. */
export const warmupRoutes =
  ({ warmAgents, findAgents, requireSubscription }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.post(
      '/warmup',
      {
        config: { group: 'chat', scopes: ['orchestrator:invoke'], delegates: 'body' },
        preValidation: async (request) => requireFor(request, scopesIn(request.body)),
        schema: {
          tags: ['chat'],
          summary: 'Build the orchestrator, and one agent if named, before the first message',
          body,
          response: {
            200: warmed,
            ...refusals(
              'chat',
              'invalid_input',
              'user_not_found',
              'delegation_not_allowed',
              'no_subscription',
              'invalid_plan',
              'insufficient_credits',
              'agent_not_found',
              'agent_inactive',
              'model_misconfigured',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request) => {
        const { agent_id } = request.body
        const { call, viewer } = request.delegated
        await requireSubscription(request.access)
        const { agents } = await findAgents(call.organizationId, { agentId: agent_id })
        const agent = agent_id ? requireActive(agents.get(agent_id)) : undefined
        const { status, tookMs, subAgents, tools } = await warmAgents.warm(
          call,
          viewer.userId,
          agent,
        )
        return {
          status,
          took_ms: tookMs,
          organization_id: call.organizationId,
          user_id: viewer.userId,
          sub_agents: subAgents,
          tools,
          ...(agent ? { agent_id: agent.agentId, agent_ready: true } : {}),
        }
      },
    )
  }
