import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { RequireErasableUser } from '../../../commands/require-erasable-user.ts'
import type { RequireProvisionedUser } from '../../../commands/require-provisioned-user.ts'
import { refusals } from '../errors/responses.ts'
import { credentialBody, credentialList, named, storedCredential } from '../wire/credentials.ts'
import { pathName, provisionedUser } from '../wire/fields.ts'
import { type CredentialUses, credentialAnswers } from './credential-answers.ts'

type Uses = {
  requireErasableUser: RequireErasableUser
  requireProvisionedUser: RequireProvisionedUser
  credentials: CredentialUses
}

/**
 * Credentials of users whom the organization provisioned. Those of former members are listed and
 * deleted, so that nothing of them stays
 * (docs/contract/provisioned-users.md#credentials).
 */
export const managementCredentialRoutes =
  ({ requireErasableUser, requireProvisionedUser, credentials }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const { list, store, remove } = credentialAnswers(credentials)
    const config = {
      group: 'management',
      scopes: ['users:credentials'],
      managers: true,
    } as const
    const tags = ['management']
    const refused = ['role_required', 'user_not_found', 'not_provisioned'] as const
    const params = provisionedUser.extend(named.shape)

    http.get(
      '/management/users/:user_id/credentials',
      {
        config,
        schema: {
          tags,
          summary: 'List the names of a user’s credentials, never a value',
          params: provisionedUser,
          response: { 200: credentialList, ...refusals('management', ...refused) },
        },
      },
      async ({ params: { user_id }, call }) => {
        await requireErasableUser(user_id, call)
        return list(user_id, call)
      },
    )

    http.put(
      '/management/users/:user_id/credentials/:name',
      {
        config,
        schema: {
          tags,
          summary: 'Store a credential, or replace its value',
          params,
          body: credentialBody,
          response: { 200: storedCredential, ...refusals('management', ...refused) },
        },
      },
      async ({ params: { user_id, name }, body, call }) => {
        await requireProvisionedUser(user_id, call)
        return store({ userId: user_id, name, ...body }, call)
      },
    )

    http.delete(
      '/management/users/:user_id/credentials/:name',
      {
        config,
        schema: {
          tags,
          summary: 'Delete a credential',
          params: provisionedUser.extend({ name: pathName }),
          response: {
            204: z.undefined(),
            ...refusals('management', ...refused, 'credential_not_found'),
          },
        },
      },
      async ({ params: { user_id, name }, call }, reply) => {
        await requireErasableUser(user_id, call)
        await remove({ userId: user_id, name }, call)
        return reply.code(204).send()
      },
    )
  }
