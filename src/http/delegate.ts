import type { FastifyRequest } from 'fastify'
import type { Viewer } from '../domain/session/session.ts'
import { problem } from '../problems.ts'
import { requireScopes } from './authenticate.ts'

/** Whether a user is a member; undefined: the organization does not know the user. */
export type FindMembership = (
  organizationId: string,
  userId: string,
) => Promise<{ status: string } | undefined>

/** Whom a request works for (decisions, section 3: ownership). @throws platform keys own nothing */
export const viewerOf = ({ access, call }: FastifyRequest): Viewer => {
  const userId = call.onBehalfOf ?? access.userId
  if (!userId) throw problem('delegation_not_allowed', { message: 'The platform key owns nothing' })
  const own = access.kind === 'organization' && !call.onBehalfOf
  return { userId, onlyKeyId: own ? access.keyId : null }
}

/**
 * `on_behalf_of` (decisions, section 1, step 7): the target must be an active or pending member of
 * the key's organization. @throws insufficient_scopes, user_not_found, delegation_not_allowed
 */
export const delegation =
  (findMembership: FindMembership) =>
  async (request: FastifyRequest, target: string | null | undefined): Promise<Viewer> => {
    if (target) {
      requireScopes(request.access, ['users:delegate'])
      const member = await findMembership(request.access.organizationId, target)
      if (!member) throw problem('user_not_found')
      if (member.status !== 'active' && member.status !== 'pending')
        throw problem('delegation_not_allowed')
      request.call = { ...request.call, onBehalfOf: target }
    }
    return viewerOf(request)
  }
export type Delegate = ReturnType<typeof delegation>
