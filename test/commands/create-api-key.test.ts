import t, { type Test } from 'tap'
import type { CreateApiKey } from '../../commands/create-api-key.ts'
import { keyringStream } from '../../src/domain/keyring/keyring.ts'
import { commanded } from '../support/commanded.ts'
import { commanding, typesOf } from '../support/commanding.ts'
import { giver, apiKeySettings as settings } from '../support/key-settings.ts'
import { platformCall } from '../support/recorded.ts'

const {
  addMember,
  createApiKey,
  provisionUser,
  recordLogin,
  revokeUserKey,
  appended,
  load,
  organization,
  secrets,
} = await commanding(t)

/** An organization; Ann is an admin of it. */
const scene = async () => {
  const home = await organization()
  const annId = await home.member('ADMIN')
  const platform = { ...home.by, userId: null }
  return { ...home, annId, platform, as: (userId: string) => ({ ...home.by, userId }) }
}

t.test('a key is stored as its hash', async (t) => {
  const { as, annId, organizationId } = await scene()
  let key = ''
  const events = await appended(async () => {
    key = (await createApiKey({ ...settings, keyId: 'key-1' }, as(annId))).key
  })
  t.match(key, /^svc_live_\w{32}$/)
  t.match(events, [
    {
      type: 'ApiKeyCreated',
      data: { hash: secrets.hashApiKey(key), last4: key.slice(-4), userId: annId },
      stream: `apikey-${organizationId}_key-1`,
    },
  ])
  t.notMatch(JSON.stringify(events), key)
  const again = () => createApiKey({ ...settings, keyId: 'key-1' }, as(annId))
  t.strictSame(await appended(again), [], 'a key of that id is created once')
})

t.test('who backs a key', async (t) => {
  const { as, platform, ownerId, annId, by } = await scene()
  const byAnn = { ...settings, by: giver(annId, 'ADMIN') }
  t.match(await createApiKey(byAnn, as(annId)), { userId: annId, key: /^svc_live_/ })
  t.match(await createApiKey(settings, platform), { userId: ownerId })
  t.match(await createApiKey({ ...settings, userId: annId }, as(ownerId)), { userId: annId })
  const ofOwner = { ...byAnn, userId: ownerId }
  await t.rejects(createApiKey(ofOwner, as(annId)), { code: 'owner_required' })
  const { userId } = await addMember({ email: 'bob@example.com', role: 'MEMBER' }, by)
  await t.rejects(createApiKey({ ...settings, userId }, platform), { code: 'member_pending' })
  await t.rejects(createApiKey({ ...settings, userId: 'nobody' }, platform), {
    code: 'member_not_found',
  })
  const nowhere = { ...platform, organizationId: 'nowhere' }
  await t.rejects(createApiKey(settings, nowhere), { code: 'organization_not_found' })
  const late = { ...settings, expiresAt: '2020-01-01T00:00:00.000Z' }
  await t.rejects(createApiKey(late, as(annId)), { code: 'invalid_input' })
})

t.test('backing by a user whom the organization provisioned is allowed', async (t) => {
  const { as, ownerId, by, organizationId } = await scene()
  const byOwner = { ...settings, by: giver(ownerId, 'OWNER') }
  const email = 'here@example.com'
  const { userId } = await provisionUser({ email }, by)
  const accept = [{ organizationId, allowBacking: false }]
  await recordLogin({ email, provider: 'test', subject: email, accept }, platformCall)
  t.match(await createApiKey({ ...byOwner, userId }, as(ownerId)), { userId })
})

t.test('backing by a user provisioned elsewhere is refused: backing_not_allowed', async (t) => {
  const { as, ownerId, by, platform } = await scene()
  const email = 'elsewhere@example.com'
  const { by: other } = await organization()
  await provisionUser({ email }, other)
  const { userId } = await addMember({ email, role: 'MEMBER' }, by)
  const accept = [{ organizationId: by.organizationId, allowBacking: false }]
  await recordLogin({ email, provider: 'test', subject: email, accept }, platformCall)
  const command = { ...settings, userId }
  await t.rejects(createApiKey({ ...command, by: giver(ownerId, 'OWNER') }, as(ownerId)), {
    code: 'backing_not_allowed',
  })
  t.match(await createApiKey(command, platform), { userId }, 'the platform may name anybody')
  const own = { ...command, by: giver(userId, 'MEMBER'), type: 'user' as const }
  t.match(await createApiKey(own, as(userId)), { userId }, 'and everybody themselves')
})

t.test('a user key is made by its own user or by the platform', async (t) => {
  const { as, platform, ownerId, annId } = await scene()
  const ofAnn = { ...settings, type: 'user', userId: annId } as const
  const byAnn = giver(annId, 'ADMIN')
  t.match(await createApiKey({ ...ofAnn, by: byAnn }, as(annId)), {
    userId: annId,
    key: /^svc_user_/,
  })
  const asOwner = { ...ofAnn, by: giver(ownerId, 'OWNER') }
  await t.rejects(createApiKey(asOwner, as(ownerId)), { code: 'not_own_user_key' })
  const byApplication = { ...ofAnn, by: { ...byAnn, inPerson: false } }
  await t.rejects(createApiKey(byApplication, as(annId)), { code: 'user_key_required' })
  t.match(await createApiKey(ofAnn, platform), { userId: annId })
})

t.test('scopes', async (t) => {
  const { as, annId } = await scene()
  const given = async (more: Partial<CreateApiKey>) =>
    (await createApiKey({ ...settings, by: giver(annId, 'ADMIN'), ...more }, as(annId))).scopes
  t.equal((await given({})).length, 8)
  t.equal((await given({ type: 'user' })).length, 16)
  t.strictSame(await given({ scopes: ['rag:read', 'rag:read'] }), ['rag:read'])
  t.strictSame(await given({ scopes: ['users:delegate'], provisioning: true }), [
    'users:delegate',
    'users:provision',
  ])
  const asMember = (more: Partial<CreateApiKey>) =>
    given({ type: 'user', by: giver(annId, 'MEMBER'), ...more })
  await t.rejects(asMember({ scopes: ['users:delegate'] }), { code: 'scope_not_allowed' })
  await t.rejects(asMember({ provisioning: true }), { code: 'scope_not_allowed' })
  t.equal((await asMember({})).length, 16)
  const grantable: ReadonlySet<string> = new Set(['admin:write', 'rag:read'])
  const narrow = { by: { ...giver(annId, 'ADMIN'), grantable } }
  t.strictSame(await given({ ...narrow, type: 'user' }), ['rag:read', 'admin:write'])
  await t.rejects(given({ ...narrow, provisioning: true }), { code: 'scope_not_allowed' })
})

t.test('the sixth user key is refused, also when all are made at once', async (t) => {
  const { as, annId } = await scene()
  const create = () => createApiKey({ ...settings, type: 'user' }, as(annId))
  let outcomes: PromiseSettledResult<{ keyId: string }>[] = []
  const events = await appended(async () => {
    outcomes = await Promise.allSettled(Array.from({ length: 9 }, create))
  })
  const keyIds = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value.keyId] : [],
  )
  t.equal(keyIds.length, 5)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'key_limit_reached' })
  const { state } = await load(keyringStream(annId))
  t.strictSame(state.keys.map(({ keyId }) => keyId).toSorted(), keyIds.toSorted())
  const types = typesOf(events)
  const count = (type: string) => types.filter((eventType) => eventType === type).length
  t.equal(count('ApiKeyCreated') - count('ApiKeyRevoked'), 5, 'no other key is left behind')
  const [first = ''] = keyIds
  await revokeUserKey({ keyId: first, userId: annId }, as(annId))
  t.match(await create(), { userId: annId })
  await t.rejects(create(), { code: 'key_limit_reached' })
})

/** An organization whose owner is called Ann, and its read models. */
const seenScene = async (t: Test) => {
  const all = await commanded(t)
  const owner = { email: 'ann@example.com' }
  const home = await all.createOrganization({ name: 'Acme', owner }, platformCall)
  const { organizationId, ownerUserId: annId } = home
  return { ...all, annId, as: (userId: string) => ({ ...platformCall, organizationId, userId }) }
}

t.test('the sixth user key, as it is seen', async (t) => {
  const { createApiKey, revokeUserKey, as, annId, read, seen } = await seenScene(t)
  const create = () => createApiKey({ ...settings, type: 'user' }, as(annId))
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, create))
  const keyIds = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value.keyId] : [],
  )
  t.equal(keyIds.length, 5)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') t.match(outcome.reason, { code: 'key_limit_reached' })
  await seen()
  const listed = await read.apiKeys.find({ index: 'by_user', equals: [annId, 'user'], limit: 10 })
  t.strictSame(
    listed.items.map(({ key_id }) => key_id).toSorted(),
    keyIds.toSorted(),
    'no other key is left behind',
  )
  const [first = ''] = keyIds
  await t.rejects(revokeUserKey({ keyId: first, userId: 'somebody' }, as('somebody')), {
    code: 'key_not_found',
  })
  await revokeUserKey({ keyId: first, userId: annId }, as(annId))
  await t.rejects(revokeUserKey({ keyId: first, userId: annId }, as(annId)), {
    code: 'key_not_found',
  })
  t.match(await create(), { userId: annId })
  await t.rejects(create(), { code: 'key_limit_reached' })
})
