import { refusal } from '../domain/refusal.ts'
import type { Viewer } from '../domain/session/viewer.ts'
import type { Call } from '../ports/call.ts'
import { longestId } from '../support/ids.ts'
import type { Access } from './access.ts'
import { requireScopes } from './scopes.ts'

/** Whether a user is a member; undefined: the organization does not know the user. */
export type FindMembership = (
  organizationId: string,
  userId: string,
) => Promise<{ status: string; incomplete?: true | undefined } | undefined>

/** The caller: a request, or a message on a socket. */
export type Asker = { access: Access; call: Call }

/** A call for its target user, and the user whose sessions it sees. */
export type Delegated = { call: Call; viewer: Viewer }

/**
 * Whose sessions a call sees (docs/contract/sessions.md#ownership). @throws delegation_not_allowed
 */
const viewerOf = ({ access, call }: Asker): Viewer => {
  const userId = call.onBehalfOf ?? access.userId
  if (!userId) throw refusal('delegation_not_allowed', { message: 'The platform key owns nothing' })
  const own = access.kind === 'organization' && !call.onBehalfOf
  return { userId, onlyKeyId: own ? access.keyId : null }
}

const forUser = async (
  findMembership: FindMembership,
  { access, call }: Asker,
  target: string,
): Promise<Delegated> => {
  requireScopes(access, ['users:delegate'])
  const possible = target.length <= longestId
  const member = possible && (await findMembership(access.organizationId, target))
  if (!member) throw refusal('user_not_found')
  const isMember = member.status === 'active' || member.status === 'pending'
  if (!isMember || member.incomplete) throw refusal('delegation_not_allowed')
  const delegated = { ...call, onBehalfOf: target }
  return { call: delegated, viewer: viewerOf({ access, call: delegated }) }
}

/**
 * `on_behalf_of` (docs/contract/requests.md#acting-for-a-user): the target must be an active or
 * pending member of the key's organization. @throws insufficient_scopes, user_not_found,
 * delegation_not_allowed
 */
export const delegate =
  ({ findMembership }: { findMembership: FindMembership }) =>
  (asker: Asker, target: string | null | undefined): Delegated | Promise<Delegated> =>
    target ? forUser(findMembership, asker, target) : { call: asker.call, viewer: viewerOf(asker) }
export type Delegate = ReturnType<typeof delegate>
