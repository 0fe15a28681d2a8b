import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { RequireErasableUser } from '../../../commands/require-erasable-user.ts'
import type { EraseSessions } from '../../turns/erase/erase-sessions.ts'
import { refusals } from '../errors/responses.ts'
import { pathSessionId, provisionedUser } from '../wire/fields.ts'

type Uses = { requireErasableUser: RequireErasableUser; eraseSessions: EraseSessions }

const deleted = z.object({ deleted: z.int() })

/**
 * Deletes the conversations of users whom the organization provisioned, and of former members
 * (docs/contract/provisioned-users.md#deleting-conversations).
 */
export const managementSessionRoutes =
  ({ requireErasableUser, eraseSessions }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const config = { group: 'management', scopes: ['sessions:delete'] } as const
    const tags = ['management']
    const refused = ['user_not_found', 'not_provisioned'] as const

    http.delete(
      '/management/users/:user_id/sessions',
      {
        config,
        schema: {
          tags,
          summary: 'Delete all conversations of a user permanently',
          params: provisionedUser,
          response: { 200: deleted, ...refusals('management', ...refused) },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireErasableUser(user_id, call)
        return { deleted: await eraseSessions.all(user_id, call) }
      },
    )

    http.delete(
      '/management/users/:user_id/sessions/:session_id',
      {
        config,
        schema: {
          tags,
          summary: 'Delete one conversation of a user permanently',
          params: provisionedUser.extend({ session_id: pathSessionId }),
          response: {
            200: deleted,
            ...refusals('management', ...refused, 'session_not_found'),
          },
        },
      },
      async ({ params: { user_id, session_id }, call }) => {
        await requireErasableUser(user_id, call)
        await eraseSessions.one({ userId: user_id, sessionId: session_id }, call)
        return { deleted: 1 }
      },
    )
  }
