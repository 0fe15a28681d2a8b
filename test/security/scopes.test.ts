import t from 'tap'
import { requireScopes } from '../../src/security/scopes.ts'

t.test('a scope that is needed twice is told once', async (t) => {
  const scopes = new Set(['agents:list'])
  t.throws(() => requireScopes({ scopes }, ['sessions:read', 'agents:list', 'sessions:read']), {
    code: 'insufficient_scopes',
    message: 'The API key lacks: sessions:read',
    facts: { requiredScopes: ['sessions:read', 'agents:list'], missingScopes: ['sessions:read'] },
  })
})
