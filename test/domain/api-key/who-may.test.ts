import t from 'tap'
import { defaultScopes, scopes } from '../../../src/domain/api-key/scopes.ts'
import { effectiveScopes, grantableScopes } from '../../../src/domain/api-key/who-may.ts'

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

t.test('the scopes that a caller may give', async (t) => {
  const given = (
    role: Parameters<typeof grantableScopes>[0],
    keyScopes: readonly string[],
    inPerson = true,
  ) => [...grantableScopes(role, new Set(keyScopes), inPerson)]
  const { user } = defaultScopes
  for (const role of ['OWNER', 'ADMIN'] as const) {
    t.strictSame(given(role, user), [...scopes], 'a whole user key speaks for its user')
    t.strictSame(given(role, user, false), [...user], 'an application gives what it has')
    t.strictSame(given(role, ['admin:write']), ['admin:write'], 'alone it cannot widen itself')
    t.strictSame(given(role, ['admin:write', 'rag:delete']), ['admin:write', 'rag:delete'])
  }
  t.strictSame(given('MEMBER', scopes), [...user])
  t.strictSame(given('MEMBER', ['admin:write', 'rag:delete']), ['admin:write'])
})
