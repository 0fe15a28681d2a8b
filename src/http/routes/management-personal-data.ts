import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { EraseMemoriesCommand } from '../../../commands/erase-memories.ts'
import type { ErasePersonalDataCommand } from '../../../commands/erase-personal-data.ts'
import type { RequireErasableUser } from '../../../commands/require-erasable-user.ts'
import { count, timestamp } from '../../../projections/fields.ts'
import { erasure } from '../../domain/erasure.ts'
import { refusals } from '../errors/responses.ts'
import { provisionedUser } from '../wire/fields.ts'

type Uses = {
  requireErasableUser: RequireErasableUser
  eraseMemories: EraseMemoriesCommand
  erasePersonalData: ErasePersonalDataCommand
}

const { scope } = erasure.shape

const erased = z.object({
  scope,
  memories: count,
  credentials: count,
  key_ids: z.array(z.string()).describe('The data keys that were destroyed'),
  destroyed_at: timestamp.nullable().describe('Null where nothing was left to erase'),
})

/**
 * Erasing what the organization has of a user besides conversations
 * (docs/contract/provisioned-users.md#erasing-memories-and-personal-data).
 */
export const managementPersonalDataRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { requireErasableUser, eraseMemories, erasePersonalData } = uses
    const config = { group: 'management', scopes: ['sessions:delete'] } as const
    const tags = ['management']
    const refused = ['user_not_found', 'not_provisioned'] as const

    http.delete(
      '/management/users/:user_id/memories',
      {
        config,
        schema: {
          tags,
          summary: 'Erase all that agents remember of a user',
          params: provisionedUser,
          response: {
            200: z.object({ deleted: count }),
            ...refusals('management', ...refused),
          },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireErasableUser(user_id, call)
        const { erased } = await eraseMemories({ userId: user_id }, call)
        return { deleted: erased?.memories ?? 0 }
      },
    )

    http.delete(
      '/management/users/:user_id/personal-data',
      {
        config,
        schema: {
          tags,
          summary: 'Erase a user’s memories, credentials, name and address',
          params: provisionedUser,
          response: { 200: erased, ...refusals('management', ...refused) },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireErasableUser(user_id, call)
        const { erased } = await erasePersonalData({ userId: user_id }, call)
        return {
          scope: erased?.scope ?? [],
          memories: erased?.memories ?? 0,
          credentials: erased?.credentials ?? 0,
          key_ids: erased?.keyIds ?? [],
          destroyed_at: erased?.destroyedAt ?? null,
        }
      },
    )
  }
