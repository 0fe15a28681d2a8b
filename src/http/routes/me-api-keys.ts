import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { CreateApiKeyCommand } from '../../../commands/create-api-key.ts'
import type { RevokeUserKeyCommand } from '../../../commands/revoke-user-key.ts'
import type { ListUserKeys } from '../../../queries/list-user-keys.ts'
import { keyGiverOf, userOf } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import { createdKey, createdKeyAnswer, keyList, newKey, settingsOf } from '../wire/api-keys.ts'
import { pageQuery, pathId } from '../wire/fields.ts'

type Uses = {
  createApiKey: CreateApiKeyCommand
  revokeUserKey: RevokeUserKeyCommand
  listUserKeys: ListUserKeys
}

/** A user's own user keys, at most five (docs/contract/admin-api.md#keys). */
export const meApiKeyRoutes =
  ({ createApiKey, revokeUserKey, listUserKeys }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const reads = { scopes: ['admin:read'], own: true, userKey: true } as const
    const writes = { scopes: ['admin:write'], own: true, userKey: true } as const
    const tags = ['me']

    http.get(
      '/api-keys',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List the user keys of the calling user, the oldest first',
          querystring: pageQuery,
          response: { 200: keyList, ...refusals('admin', 'user_key_required', 'user_not_found') },
        },
      },
      async (request) => {
        const { page, page_size } = request.query
        return listUserKeys(userOf(request), { page, pageSize: page_size })
      },
    )

    http.post(
      '/api-keys',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Create a user key; only this answer shows it',
          body: newKey,
          response: {
            201: createdKey,
            ...refusals(
              'admin',
              'user_key_required',
              'user_not_found',
              'scope_not_allowed',
              'key_limit_reached',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const userId = userOf(request)
        const by = keyGiverOf(request)
        const input = { ...settingsOf(request.body), type: 'user', userId, by } as const
        const created = await createApiKey(input, request.call)
        return reply.code(201).send(createdKeyAnswer(created))
      },
    )

    http.delete(
      '/api-keys/:key_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Revoke a user key of the calling user permanently',
          params: z.object({ key_id: pathId }),
          response: {
            204: z.undefined(),
            ...refusals('admin', 'user_key_required', 'user_not_found', 'key_not_found'),
          },
        },
      },
      async (request, reply) => {
        const keyId = request.params.key_id
        const userId = userOf(request)
        await revokeUserKey({ keyId, userId }, request.call)
        return reply.code(204).send()
      },
    )
  }
