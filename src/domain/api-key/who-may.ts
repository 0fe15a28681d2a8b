import type { MemberRole } from '../member/events.ts'
import { type Scope, scopes } from './scopes.ts'

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
 * use (docs/contract/requests.md#scopes).
 */
export const effectiveScopes = (
  role: MemberRole,
  keyScopes: readonly string[],
): ReadonlySet<string> => new Set(keyScopes.filter((scope) => roleScopes[role].has(scope)))
