import t from 'tap'
import {
  apiKey,
  decideChange,
  decideCreate,
  decideEndBacking,
  decideRevoke,
  decideRevokeOwn,
  decideUse,
} from '../../../src/domain/api-key/api-key.ts'
import type { ApiKeyEvent } from '../../../src/domain/api-key/events.ts'
import { defaultScopes, provisioningScopes, scopes } from '../../../src/domain/api-key/scopes.ts'
import { platformGiver } from '../../../src/domain/api-key/who-may.ts'
import { Refusal } from '../../../src/domain/refusal.ts'
import { deciding } from '../../support/given.ts'
import { giver } from '../../support/key-settings.ts'

const at = '2026-01-01T00:00:00.000Z'
const past = '2025-12-31T23:59:59.999Z'
const data: ApiKeyEvent<'ApiKeyCreated'>['data'] = {
  hash: 'hash',
  last4: 'wxyz',
  type: 'organization',
  userId: 'user-1',
  provisioning: false,
  name: 'Key',
  description: '',
  scopes: ['sessions:read'],
  rateLimitMinute: 100,
  rateLimitHour: 1_000,
  expiresAt: null,
}
const owner = giver('user-1', 'OWNER')
const admin = giver('user-2', 'ADMIN')
const created: ApiKeyEvent = { type: 'ApiKeyCreated', data }
const revoked: ApiKeyEvent = { type: 'ApiKeyRevoked', data: {} }
const usage = { requests: 3, lastUsedAt: at }
const used: ApiKeyEvent = { type: 'ApiKeyUsed', data: usage }

t.test('creating', async (t) => {
  const given = deciding(t, apiKey)
  given()
    .when(decideCreate(data, owner, at))
    .emitsOnce(created)
  given(created, revoked)
    .when(decideCreate(data, owner, at))
    .changesNothing()
  given()
    .when(decideCreate({ ...data, expiresAt: past }, owner, at))
    .refuses('invalid_input')
})

t.test('who may give which scope', async (t) => {
  const given = deciding(t, apiKey)
  const member = giver('user-1', 'MEMBER')
  const wide = { ...data, scopes: ['sessions:read', 'rag:delete', 'users:delegate'] }
  given()
    .when(decideCreate(wide, member, at))
    .refuses('scope_not_allowed')
  given()
    .when(decideCreate(wide, owner, at))
    .emitsOnce({ type: 'ApiKeyCreated', data: wide })
  given()
    .when(decideCreate(data, member, at))
    .emitsOnce(created)
  t.throws(
    () => decideCreate(wide, member, at)(apiKey.initial),
    new Refusal('scope_not_allowed', { scopes: ['rag:delete', 'users:delegate'] }),
  )
})

t.test('a user key is made by its own user, or by the platform', async (t) => {
  const given = deciding(t, apiKey)
  const own = { ...data, type: 'user' } as const
  const userKeyCreated: ApiKeyEvent = { type: 'ApiKeyCreated', data: own }
  const otherOwner = { ...owner, userId: 'user-2' }
  given()
    .when(decideCreate(own, owner, at))
    .emitsOnce(userKeyCreated)
  given()
    .when(decideCreate(own, otherOwner, at))
    .refuses('not_own_user_key')
  given()
    .when(decideCreate(own, { ...owner, inPerson: false }, at))
    .refuses('user_key_required')
  given()
    .when(decideCreate(data, otherOwner, at))
    .emitsOnce(created)
  given()
    .when(decideCreate(own, platformGiver, at))
    .emitsOnce(userKeyCreated)
})

t.test('changing', async (t) => {
  const given = deciding(t, apiKey)
  const change = { name: 'Key', scopes: ['sessions:read', 'rag:read'], rateLimitHour: undefined }
  given(created)
    .when(decideChange(change, owner, [], at))
    .emitsOnce({ type: 'ApiKeyChanged', data: { scopes: ['sessions:read', 'rag:read'] } })
  given(created)
    .when(decideChange({}, owner, [], at))
    .changesNothing()
  given(created)
    .when(decideChange({ expiresAt: past }, owner, [], at))
    .refuses('invalid_input')
  given(created, revoked)
    .when(decideChange({}, owner, [], at))
    .refuses('key_not_found')
})

t.test('revoking', async (t) => {
  const given = deciding(t, apiKey)
  given(created).when(decideRevoke(owner, [])).emitsOnce(revoked)
  given(created, revoked).when(decideRevoke(owner, [])).refuses('key_not_found')
  given().when(decideRevoke(owner, [])).refuses('key_not_found')
  given(created).when(decideRevokeOwn('user-1')).emitsOnce(revoked)
  given(created).when(decideRevokeOwn('user-2')).refuses('key_not_found')
  given(created).when(decideEndBacking('user-1')).emitsOnce(revoked)
  given(created).when(decideEndBacking('user-2')).changesNothing()
})

t.test('only owners change and revoke what an owner backs', async (t) => {
  const given = deciding(t, apiKey)
  const change = { name: 'New' }
  const changed: ApiKeyEvent = { type: 'ApiKeyChanged', data: change }
  const owners = ['user-1']
  given(created)
    .when(decideChange(change, admin, owners, at))
    .refuses('owner_required')
  given(created).when(decideRevoke(admin, owners)).refuses('owner_required')
  given(created)
    .when(decideChange(change, giver('user-3', 'OWNER'), owners, at))
    .emitsOnce(changed)
  given(created)
    .when(decideChange(change, admin, [], at))
    .emitsOnce(changed)
  given(created).when(decideRevoke(platformGiver, owners)).emitsOnce(revoked)
})

t.test('nobody adds a scope that she may not give', async (t) => {
  const given = deciding(t, apiKey)
  const narrow = { ...owner, grantable: new Set(['admin:write']) }
  const to = (...scopes: string[]) => decideChange({ scopes }, narrow, ['user-1'], at)
  given(created).when(to('sessions:read', 'rag:read')).refuses('scope_not_allowed')
  given(created)
    .when(to('admin:write', 'sessions:read'))
    .emitsOnce({
      type: 'ApiKeyChanged',
      data: { scopes: ['admin:write', 'sessions:read'] },
    })
  given(created)
    .when(to())
    .emitsOnce({ type: 'ApiKeyChanged', data: { scopes: [] } })
})

t.test('a user key is its user’s own', async (t) => {
  const given = deciding(t, apiKey)
  const own: ApiKeyEvent = { type: 'ApiKeyCreated', data: { ...data, type: 'user' } }
  const application = { ...owner, inPerson: false }
  for (const by of [admin, application, giver('user-3', 'OWNER')]) {
    given(own)
      .when(decideChange({ name: 'New' }, by, [], at))
      .refuses('key_not_found')
    given(own).when(decideRevoke(by, [])).refuses('key_not_found')
  }
  for (const by of [owner, platformGiver])
    given(own)
      .when(decideRevoke(by, ['user-1']))
      .emitsOnce(revoked)
})

t.test('counting requests', async (t) => {
  const given = deciding(t, apiKey)
  given(created).when(decideUse(usage)).emits(used)
  given(created, revoked).when(decideUse(usage)).changesNothing()
  given().when(decideUse(usage)).changesNothing()
})

t.test('default scopes', async (t) => {
  const optIn = [...provisioningScopes, 'rag:delete', 'sessions:delete', 'users:credentials']
  t.strictSame(
    scopes.filter((scope) => !defaultScopes.user.includes(scope)).toSorted(),
    optIn.toSorted(),
  )
  t.equal(defaultScopes.organization.length, 8)
  t.notOk(defaultScopes.organization.some((scope) => /^(rag|admin|users|secrets):/.test(scope)))
})
