import t from 'tap'
import { type ApiKeyView, apiKeys } from '../../projections/api-keys.ts'
import { apiKeyEvents } from '../../src/domain/api-key/events.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting } from '../support/given.ts'

const at = '2026-01-01T00:00:00.000Z'
const later = '2026-01-02T00:00:00.000Z'

t.test('API keys', async (t) => {
  const data = apiKeyEvents.ApiKeyCreated.parse(sample('ApiKeyCreated').data)
  const created = { type: 'ApiKeyCreated', data } as const
  const seen = projecting(t, apiKeys, 'apikey-org-1_key-1')
  seen(created).shows({
    key_id: 'key-1',
    organization_id: 'org-1',
    hash: data.hash,
    key_hint: '…wxyz',
    last_used_at: null,
    request_count: 0,
  })
  seen(
    created,
    { type: 'ApiKeyUsed', data: { requests: 2, lastUsedAt: at } },
    { type: 'ApiKeyUsed', data: { requests: 3, lastUsedAt: later } },
    { type: 'ApiKeyChanged', data: { scopes: ['rag:read'], expiresAt: null } },
  ).shows({
    request_count: 5,
    last_used_at: later,
    scopes: ['rag:read'],
    expires_at: null,
    name: data.name,
  })
  const most = Number.MAX_SAFE_INTEGER
  const often = { type: 'ApiKeyUsed', data: { requests: most, lastUsedAt: at } } as const
  seen(created, often, often).shows({ request_count: most })
  seen(created, { type: 'ApiKeyRevoked', data: {} }).showsNothing('key-1')
  projecting(
    t,
    apiKeys,
    'apikey-user_key-2',
  )({
    type: 'ApiKeyCreated',
    data: { ...data, type: 'user' },
  }).shows({ key_id: 'key-2', organization_id: null, type: 'user' })
})

t.test('a key is shown without its hash', async (t) => {
  const view: ApiKeyView = {
    key_id: 'key-1',
    organization_id: 'org-1',
    user_id: 'user-1',
    type: 'organization',
    hash: 'hash',
    key_hint: '…wxyz',
    name: 'Key',
    description: '',
    scopes: [],
    rate_limit_minute: 1,
    rate_limit_hour: 1,
    provisioning: false,
    expires_at: null,
    created_at: at,
    last_used_at: null,
    request_count: 0,
  }
  const { hash: _, ...fields } = view
  t.strictSame(apiKeys.shown?.document?.(view), fields)
})

t.test('every event it handles was given', async (t) => handlesAll(t, apiKeys))
