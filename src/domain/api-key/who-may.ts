import type { MemberRole } from '../member/events.ts'
import { refusal } from '../refusal.ts'
import { defaultScopes, isOptIn, type Scope, scopes } from './scopes.ts'

/** Scopes that reach other people, delete or administrate: only owners and admins use them. */
const managerScopes: readonly Scope[] = [
  'users:provision',
  'users:delegate',
  'users:credentials',
  'sessions:delete',
  'rag:delete',
  'agents:manage',
  'admin:read',
  'admin:write',
]

const memberScopes = scopes.filter((scope) => !managerScopes.includes(scope))

/** The scopes that a role may use in its organization. */
const roleScopes: Readonly<Record<MemberRole, ReadonlySet<string>>> = {
  OWNER: new Set(scopes),
  ADMIN: new Set(scopes),
  MEMBER: new Set(memberScopes),
}

/**
 * What a key may do in an organization: its scopes, less those that its user's role there may not
 * use (docs/contract/authentication.md#scopes).
 */
export const effectiveScopes = (
  role: MemberRole,
  keyScopes: readonly string[],
): ReadonlySet<string> => new Set(keyScopes.filter((scope) => roleScopes[role].has(scope)))

/** Who makes, changes or revokes a key, and by what right. */
export type KeyGiver = {
  /** Null for the platform. */
  userId: string | null
  platform: boolean
  /** Asks with a user key: the person herself, not an application of one organization. */
  inPerson: boolean
  /** Is an owner of the organization at hand. */
  asOwner: boolean
  /** The scopes that may be given. */
  grantable: ReadonlySet<string>
}

const everyScope: ReadonlySet<string> = new Set(scopes)

/** Keys that were made before these scopes have none of them, and were not narrowed. */
const laterScopes: readonly Scope[] = ['approvals:read', 'approvals:decide']

/** A user key with all that user keys have by default was not narrowed: it speaks for its user. */
const isWhole = (keyScopes: ReadonlySet<string>): boolean =>
  defaultScopes.user.every((scope) => keyScopes.has(scope) || laterScopes.includes(scope))

/**
 * The scopes that a caller may give to a key: those of her own key. With a whole user key, an owner
 * or admin gives any scope. Only owners and admins give those that are in no default set.
 */
export const grantableScopes = (
  role: MemberRole | null,
  keyScopes: ReadonlySet<string>,
  inPerson: boolean,
): ReadonlySet<string> => {
  const held = inPerson && isWhole(keyScopes) ? everyScope : keyScopes
  if (role === 'OWNER' || role === 'ADMIN') return held
  return new Set([...held].filter((scope) => !isOptIn(scope)))
}

/** The platform gives everything. */
export const platformGiver: KeyGiver = {
  userId: null,
  platform: true,
  inPerson: false,
  asOwner: true,
  grantable: everyScope,
}

/** @throws scope_not_allowed, naming the scopes that she may not give */
export const requireGrantable = ({ grantable }: KeyGiver, given: readonly string[]): void => {
  const refused = given.filter((scope) => !grantable.has(scope))
  if (refused.length > 0) throw refusal('scope_not_allowed', { scopes: refused })
}

type KeyOwnership = { type: 'organization' | 'user'; userId: string }

/**
 * A user key reaches all organizations of its user: only that user makes, changes or revokes one,
 * with another user key, or the platform.
 */
export const isKeeperOfOwn = (
  { platform, inPerson, userId }: KeyGiver,
  key: KeyOwnership,
): boolean => platform || (inPerson && userId === key.userId)
