import type { paths } from '../../api/client.ts'

type NewKey =
  paths['/api/admin/organizations/{organization_id}/api-keys']['post']['requestBody']['content']['application/json']

export type Scope = NonNullable<NewKey['scopes']>[number]

type ScopeGroup = { label: string; scopes: readonly Scope[] }

/** The scopes of keys by what they are for. */
export const scopeGroups: readonly ScopeGroup[] = [
  {
    label: 'Conversations',
    scopes: [
      'orchestrator:invoke',
      'orchestrator:stream',
      'sessions:read',
      'sessions:messages',
      'sessions:delete',
    ],
  },
  { label: 'Agents', scopes: ['agents:list', 'agents:invoke', 'agents:manage'] },
  { label: 'Content', scopes: ['content:read', 'content:retry'] },
  { label: 'Knowledge', scopes: ['rag:read', 'rag:upload', 'rag:delete'] },
  { label: 'Approvals', scopes: ['approvals:read', 'approvals:decide'] },
  { label: 'Users', scopes: ['users:provision', 'users:delegate', 'users:credentials'] },
  { label: 'Administration', scopes: ['admin:read', 'admin:write', 'secrets:manage'] },
]

/** Those of a key that is created without any choice. */
export const defaultScopes: readonly Scope[] = [
  'orchestrator:invoke',
  'orchestrator:stream',
  'sessions:read',
  'sessions:messages',
  'agents:list',
  'agents:invoke',
  'content:read',
  'content:retry',
]
