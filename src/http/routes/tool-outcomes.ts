import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { TellOutcomeCommand } from '../../../commands/tell-outcome.ts'
import type { FindSession } from '../../../queries/find-session.ts'
import { refusals } from '../errors/responses.ts'
import { pathId, pathName, pathSessionId } from '../wire/fields.ts'
import { bodyOnBehalfOf } from '../wire/on-behalf-of.ts'

type Uses = {
  tellOutcome: TellOutcomeCommand
  findSession: FindSession
  /** Resumes a run whose outcomes are in the views; resolves once it runs again. */
  resumePaused(runId: string): Promise<void>
}

/** Characters of a result: it is in the context of each model call that follows. */
const longestResult = 20_000

const outcome = z.enum(['done', 'not_done'])

const outcomeBody = z
  .object({
    outcome: outcome.describe('Whether the call was made; not_done: it is made now'),
    result: z.string().max(longestResult).nullish().describe('Told to the model as the answer'),
    arguments_digest: z
      .string()
      .min(1)
      .max(128)
      .nullish()
      .describe('Of the arguments that were looked at; required where calls in doubt share an id'),
    ...bodyOnBehalfOf.shape,
  })
  .refine(({ outcome, result }) => outcome === 'done' || (result ?? undefined) === undefined, {
    path: ['result'],
    message: 'Only a call that was done has a result',
  })

/** What came of calls in doubt (docs/contract/approvals.md#calls-in-doubt). */
export const toolOutcomeRoutes =
  ({ tellOutcome, findSession, resumePaused }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    http.post(
      '/sessions/:session_id/runs/:run_id/tools/:tool_id/outcome',
      {
        config: { scopes: ['approvals:decide'], delegates: 'body' },
        schema: {
          tags: ['approvals'],
          summary: 'Tell whether a call in doubt was made; its turn goes on',
          params: z.object({ session_id: pathSessionId, run_id: pathId, tool_id: pathName }),
          body: outcomeBody,
          response: {
            200: z.object({
              session_id: z.string(),
              run_id: z.string(),
              tool_id: z.string(),
              outcome,
              told_by: z.string(),
            }),
            ...refusals(
              'detail',
              'session_not_found',
              'tool_not_in_doubt',
              'arguments_changed',
              'idempotency_key_reused',
              'user_not_found',
              'delegation_not_allowed',
            ),
          },
        },
      },
      async (request) => {
        const { session_id, run_id, tool_id } = request.params
        const { outcome, result, arguments_digest } = request.body
        const { call, viewer } = request.delegated
        const { organizationId } = request.access
        await findSession({ organizationId, viewer, sessionId: session_id })
        const { goesOn } = await tellOutcome(
          {
            sessionId: session_id,
            runId: run_id,
            toolId: tool_id,
            argumentsDigest: arguments_digest?.toLowerCase(),
            outcome,
            result: result ?? undefined,
            by: viewer.userId,
          },
          call,
        )
        if (goesOn) await resumePaused(run_id)
        return { session_id, run_id, tool_id, outcome, told_by: viewer.userId }
      },
    )
  }
