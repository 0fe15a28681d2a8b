import type { FastifyRequest } from 'fastify'
import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { refusal } from '../../domain/refusal.ts'
import { refusals } from '../errors/responses.ts'
import { credentialBody, credentialList, named, storedCredential } from '../wire/credentials.ts'
import { pathName } from '../wire/fields.ts'
import { type CredentialUses, credentialAnswers } from './credential-answers.ts'

/** @throws user_key_required */
const userOf = ({ access }: FastifyRequest): string => {
  if (access.userId) return access.userId
  throw refusal('user_key_required')
}

/**
 * A member's own credentials in one organization (docs/contract/provisioned-users.md#credentials).
 */
export const meCredentialRoutes =
  (uses: CredentialUses): FastifyPluginAsyncZod =>
  async (http) => {
    const { list, store, remove } = credentialAnswers(uses)
    const config = { group: 'management', scopes: ['secrets:manage'], userKey: true } as const
    const tags = ['me']

    http.get(
      '/me/credentials',
      {
        config,
        schema: {
          tags,
          summary: 'List the names of your credentials, never a value',
          response: { 200: credentialList, ...refusals('management', 'user_key_required') },
        },
      },
      (request) => list(userOf(request), request.call),
    )

    http.put(
      '/me/credentials/:name',
      {
        config,
        schema: {
          tags,
          summary: 'Store a credential, or replace its value',
          params: named,
          body: credentialBody,
          response: { 200: storedCredential, ...refusals('management', 'user_key_required') },
        },
      },
      (request) => {
        const { name } = request.params
        return store({ userId: userOf(request), name, ...request.body }, request.call)
      },
    )

    http.delete(
      '/me/credentials/:name',
      {
        config,
        schema: {
          tags,
          summary: 'Delete a credential',
          params: z.object({ name: pathName }),
          response: {
            204: z.undefined(),
            ...refusals('management', 'user_key_required', 'credential_not_found'),
          },
        },
      },
      async (request, reply) => {
        await remove({ userId: userOf(request), name: request.params.name }, request.call)
        return reply.code(204).send()
      },
    )
  }
