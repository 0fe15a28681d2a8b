import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { ChangeApiKeyCommand } from '../../../commands/change-api-key.ts'
import type { CreateApiKeyCommand } from '../../../commands/create-api-key.ts'
import type { RevokeApiKeyCommand } from '../../../commands/revoke-api-key.ts'
import type { RevokeUserKeyCommand } from '../../../commands/revoke-user-key.ts'
import type { GetApiKey } from '../../../queries/get-api-key.ts'
import type { GetOrganization } from '../../../queries/get-organization.ts'
import type { ListApiKeys } from '../../../queries/list-api-keys.ts'
import { inOrganization, keyGiverOf } from '../checks/in-organization.ts'
import { refusals } from '../errors/responses.ts'
import {
  createdKey,
  createdKeyAnswer,
  keyChange,
  keyItem,
  keyList,
  newKey,
  settingsOf,
} from '../wire/api-keys.ts'
import { orAbsent, pageQuery, pathId } from '../wire/fields.ts'

type Uses = {
  createApiKey: CreateApiKeyCommand
  changeApiKey: ChangeApiKeyCommand
  revokeApiKey: RevokeApiKeyCommand
  revokeUserKey: RevokeUserKeyCommand
  getOrganization: GetOrganization
  getApiKey: GetApiKey
  listApiKeys: ListApiKeys
}

const params = z.object({ organization_id: pathId })
const keyParams = params.extend({ key_id: pathId })

const creation = newKey.extend({
  type: orAbsent(z.enum(['organization', 'user'])),
  user_id: orAbsent(pathId),
})

const reads = { scopes: ['admin:read'], managers: true } as const
const writes = { scopes: ['admin:write'], managers: true } as const

/** The keys of an organization (docs/contract/admin-api.md#keys). */
export const adminApiKeyRoutes =
  (uses: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { createApiKey, changeApiKey, revokeApiKey, revokeUserKey } = uses
    const { getOrganization, getApiKey, listApiKeys } = uses
    const tags = ['admin: API keys']

    /** @throws key_not_found */
    const findKey = (request: FastifyRequest, organizationId: string, keyId: string) => {
      const { kind, userId } = request.access
      const asker = { platform: kind === 'platform', userId: kind === 'user' ? userId : null }
      return getApiKey(organizationId, keyId, asker)
    }

    http.get(
      '/organizations/:organization_id/api-keys',
      {
        config: reads,
        schema: {
          tags,
          summary: 'List the organization’s keys without revoked ones, the oldest first',
          params,
          querystring: pageQuery,
          response: {
            200: keyList,
            ...refusals('admin', 'role_required', 'organization_not_found'),
          },
        },
      },
      async (request) => {
        const { organizationId } = inOrganization(request, request.params.organization_id)
        await getOrganization(organizationId)
        const { page, page_size } = request.query
        return listApiKeys(organizationId, { page, pageSize: page_size })
      },
    )

    http.post(
      '/organizations/:organization_id/api-keys',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Create a key; only this answer shows it',
          params,
          body: creation,
          response: {
            201: createdKey,
            ...refusals(
              'admin',
              'role_required',
              'owner_required',
              'scope_not_allowed',
              'user_key_required',
              'not_own_user_key',
              'organization_not_found',
              'member_not_found',
              'member_pending',
              'backing_not_allowed',
              'key_limit_reached',
              'idempotency_key_reused',
            ),
          },
        },
      },
      async (request, reply) => {
        const call = inOrganization(request, request.params.organization_id)
        const { type = 'organization', user_id, ...settings } = request.body
        const by = keyGiverOf(request)
        const input = { ...settingsOf(settings), type, userId: user_id, by }
        const created = await createApiKey(input, call)
        return reply.code(201).send(createdKeyAnswer(created))
      },
    )

    http.patch(
      '/organizations/:organization_id/api-keys/:key_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Change a key’s name, scopes, limits or expiry',
          params: keyParams,
          body: keyChange,
          response: {
            200: keyItem,
            ...refusals(
              'admin',
              'role_required',
              'owner_required',
              'scope_not_allowed',
              'key_not_found',
              'invalid_input',
            ),
          },
        },
      },
      async (request) => {
        const { organization_id, key_id } = request.params
        const call = inOrganization(request, organization_id)
        const { rate_limit_minute, rate_limit_hour, expires_at, ...same } = request.body
        const change = {
          ...same,
          rateLimitMinute: rate_limit_minute,
          rateLimitHour: rate_limit_hour,
          expiresAt: expires_at,
        }
        const { type } = await findKey(request, organization_id, key_id)
        const by = keyGiverOf(request)
        await changeApiKey({ keyId: key_id, type, change, by }, call)
        return findKey(request, organization_id, key_id)
      },
    )

    http.delete(
      '/organizations/:organization_id/api-keys/:key_id',
      {
        config: writes,
        schema: {
          tags,
          summary: 'Revoke a key permanently',
          params: keyParams,
          response: {
            204: z.undefined(),
            ...refusals('admin', 'role_required', 'owner_required', 'key_not_found'),
          },
        },
      },
      async (request, reply) => {
        const { organization_id, key_id } = request.params
        const call = inOrganization(request, organization_id)
        const { type, user_id: userId } = await findKey(request, organization_id, key_id)
        if (type === 'user') await revokeUserKey({ keyId: key_id, userId }, call)
        else await revokeApiKey({ keyId: key_id, by: keyGiverOf(request) }, call)
        return reply.code(204).send()
      },
    )
  }
