import t from 'tap'
import { scopes } from '../../../src/domain/api-key/scopes.ts'
import { effectiveScopes } from '../../../src/domain/api-key/who-may.ts'

t.test('a key may do in an organization what the role there allows', async (t) => {
  for (const role of ['OWNER', 'ADMIN'] as const)
    t.strictSame([...effectiveScopes(role, scopes)], [...scopes])
  t.strictSame(
    scopes.filter((scope) => !effectiveScopes('MEMBER', scopes).has(scope)),
    [
      'sessions:delete',
      'agents:manage',
      'rag:delete',
      'admin:read',
      'admin:write',
      'users:provision',
      'users:delegate',
      'users:credentials',
    ],
  )
  t.strictSame([...effectiveScopes('MEMBER', ['rag:read', 'rag:delete'])], ['rag:read'])
  t.strictSame([...effectiveScopes('ADMIN', ['rag:read'])], ['rag:read'], 'a role adds nothing')
})
