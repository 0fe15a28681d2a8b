/** Every scope there is (docs/contract/authentication.md#scopes). */
export const scopes = [
  'orchestrator:invoke',
  'orchestrator:stream',
  'sessions:read',
  'sessions:messages',
  'sessions:delete',
  'content:read',
  'content:retry',
  'agents:list',
  'agents:invoke',
  'agents:manage',
  'rag:upload',
  'rag:read',
  'rag:delete',
  'admin:read',
  'admin:write',
  'approvals:read',
  'approvals:decide',
  'users:provision',
  'users:delegate',
  'users:credentials',
  'secrets:manage',
] as const

export type Scope = (typeof scopes)[number]

/** What `provisioning: true` adds to whatever else a key may do. */
export const provisioningScopes: readonly Scope[] = ['users:provision', 'users:delegate']

const organizationDefaults: readonly Scope[] = [
  'orchestrator:invoke',
  'orchestrator:stream',
  'sessions:read',
  'sessions:messages',
  'agents:list',
  'agents:invoke',
  'content:read',
  'content:retry',
]

/** In no default set: they reach other people, or delete. Only owners and admins give them. */
const optInScopes: readonly Scope[] = [
  'rag:delete',
  'users:provision',
  'users:delegate',
  'sessions:delete',
  'users:credentials',
]

/** Whether only owners and admins give a scope. */
export const isOptIn = (scope: string): boolean =>
  optInScopes.some((optInScope) => optInScope === scope)

/** Requests per minute and hour of a key that is created without limits. */
export const defaultLimits = { minute: 100, hour: 1_000 }

/** The scopes of a key that is created without any (docs/contract/authentication.md#scopes). */
export const defaultScopes: Readonly<Record<'organization' | 'user', readonly Scope[]>> = {
  organization: organizationDefaults,
  user: scopes.filter((scope) => !optInScopes.includes(scope)),
}
