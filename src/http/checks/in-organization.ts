import type { FastifyRequest } from 'fastify'
import { grantableScopes, type KeyGiver, platformGiver } from '../../domain/api-key/who-may.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import '../server/route-rules.ts'

/**
 * The call, made in the organization that is named: the platform's key works in every
 * organization, all others only in their own. @throws organization_access_denied
 */
export const inOrganization = ({ access, call }: FastifyRequest, organizationId: string): Call => {
  if (access.kind === 'platform') return { ...call, organizationId }
  if (access.organizationId !== organizationId) throw refusal('organization_access_denied')
  return call
}

/** The caller's rights over members: only owners and the platform decide about owners. */
export const standingOf = ({ access }: FastifyRequest) => ({
  asOwner: access.kind === 'platform' || access.role === 'OWNER',
})

/** The caller's rights over keys. */
export const keyGiverOf = (request: FastifyRequest): KeyGiver => {
  const { kind, userId, role, keyScopes } = request.access
  if (kind === 'platform') return platformGiver
  const inPerson = kind === 'user'
  const grantable = grantableScopes(role, keyScopes, inPerson)
  return { userId, platform: false, inPerson, ...standingOf(request), grantable }
}

/** The calling user. @throws user_not_found for the platform's key, which has no user */
export const userOf = ({ access }: FastifyRequest): string => {
  if (access.userId) return access.userId
  throw refusal('user_not_found', { message: 'The platform key has no user' })
}
