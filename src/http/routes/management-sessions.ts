import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { EraseSessionCommand } from '../../../commands/erase-session.ts'
import type { RequireProvisionedUser } from '../../../commands/provision-user.ts'
import type { ListSessionIds } from '../../../queries/list-sessions.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { WaitForPosition } from '../../ports/views.ts'
import type { Turns } from '../../turns/turns.ts'
import { refusals } from '../errors/responses.ts'
import { provisionedUser, sessionId } from '../wire/common.ts'

type Uses = {
  eraseSession: EraseSessionCommand
  requireProvisionedUser: RequireProvisionedUser
  listSessionIds: ListSessionIds
  turns: Pick<Turns, 'cancel' | 'forget'>
  waitForPosition: WaitForPosition
  /** The last position of the log. */
  head(): Promise<number>
}

const deleted = z.object({ deleted: z.int() })

/** Deleting the conversations of users that the organization provisioned (docs/contract/provisioned-users.md#deleting-conversations). */
export const managementSessionRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { eraseSession, requireProvisionedUser, listSessionIds, turns, waitForPosition, head } =
      uses
    const config = { group: 'management', scopes: ['sessions:delete'] } as const
    const tags = ['management']
    const refused = ['user_not_found', 'not_provisioned'] as const

    const erase = async (userId: string, sessionId: string, call: Call) => {
      const place = { organizationId: call.organizationId, sessionId }
      await turns.cancel(place)
      const erased = await eraseSession({ userId, sessionId }, call)
      turns.forget(place)
      return erased
    }

    /** Of two that delete at once, each counts what it deleted. */
    const erased = (userId: string, sessionId: string, call: Call) =>
      erase(userId, sessionId, call).catch((error: unknown) => {
        if (error instanceof Refusal && error.code === 'session_not_found') return undefined
        throw error
      })

    http.delete(
      '/management/users/:user_id/sessions',
      {
        config,
        schema: {
          tags,
          summary: 'Delete all conversations of a user for good',
          params: provisionedUser,
          response: { 200: deleted, ...refusals('management', ...refused) },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireProvisionedUser(user_id, call)
        await waitForPosition(await head())
        let count = 0
        for (const sessionId of await listSessionIds(call.organizationId, user_id)) {
          const done = await erased(user_id, sessionId, call)
          if (done) count++
        }
        await waitForPosition(await head())
        return { deleted: count }
      },
    )

    http.delete(
      '/management/users/:user_id/sessions/:session_id',
      {
        config,
        schema: {
          tags,
          summary: 'Delete one conversation of a user for good',
          params: provisionedUser.extend({ session_id: sessionId }),
          response: {
            200: deleted,
            ...refusals('management', ...refused, 'session_not_found'),
          },
        },
      },
      async ({ params: { user_id, session_id }, call }) => {
        await requireProvisionedUser(user_id, call)
        const { position } = await erase(user_id, session_id, call)
        await waitForPosition(position)
        return { deleted: 1 }
      },
    )
  }
