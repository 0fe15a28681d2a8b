import t, { type Test } from 'tap'
import type { CreateApiKey } from '../../commands/create-api-key.ts'
import { keyUsageMeter } from '../../src/reactors/meter-key-usage.ts'
import { commanded, platformCall } from '../support/commanded.ts'

const settings = {
  type: 'organization',
  name: 'Key',
  description: '',
  rateLimitMinute: 100,
  rateLimitHour: 1_000,
  expiresAt: null,
  provisioning: false,
  by: { asOwner: false, asManager: true, platform: false },
} as const satisfies CreateApiKey

/** An organization; its owner calls, and Ann is an admin of it. */
const scene = async (t: Test) => {
  const all = await commanded(t)
  const owner = { email: 'owner@example.com' }
  const made = await all.createOrganization({ name: 'Acme', owner }, platformCall)
  const { organizationId, ownerUserId } = made
  const platform = { ...platformCall, organizationId }
  const { userId } = await all.addMember({ email: 'ann@example.com', role: 'ADMIN' }, platform)
  const login = { email: 'ann@example.com', provider: 'google', subject: 's-1' }
  await all.recordLogin(login, platformCall)
  const as = (userId: string) => ({ ...platform, userId })
  return { ...all, organizationId, ownerUserId, annId: userId, platform, as }
}

/** What a key of the organization may, but for which one it is. */
const accessIn = ({
  organizationId,
  ownerUserId,
}: {
  organizationId: string
  ownerUserId: string
}) =>
  ({
    kind: 'organization',
    organizationId,
    userId: ownerUserId,
    role: 'OWNER',
    scopes: new Set<string>(),
    limits: { minute: 100, hour: 100 },
    plan: null,
  }) as const

t.test('who backs a key', async (t) => {
  const { createApiKey, addMember, as, platform, ownerUserId, annId } = await scene(t)
  t.match(await createApiKey(settings, as(annId)), { userId: annId, key: /^svc_live_/ })
  const byPlatform = { ...settings, by: { asOwner: true, asManager: true, platform: true } }
  t.match(await createApiKey(byPlatform, platform), { userId: ownerUserId })
  t.match(await createApiKey({ ...settings, userId: annId }, as(ownerUserId)), { userId: annId })
  const ofOwner = { ...settings, userId: ownerUserId }
  await t.rejects(createApiKey(ofOwner, as(annId)), { code: 'owner_required' })
  const { userId } = await addMember({ email: 'bob@example.com', role: 'MEMBER' }, platform)
  await t.rejects(createApiKey({ ...settings, userId }, platform), { code: 'member_pending' })
  await t.rejects(createApiKey({ ...settings, userId: 'nobody' }, platform), {
    code: 'member_not_found',
  })
  const nowhere = { ...platform, organizationId: 'nowhere' }
  await t.rejects(createApiKey(settings, nowhere), { code: 'organization_not_found' })
})

t.test('a user key is made by its own user or by the platform', async (t) => {
  const { createApiKey, as, platform, ownerUserId, annId } = await scene(t)
  const ofAnn = { ...settings, type: 'user', userId: annId } as const
  t.match(await createApiKey(ofAnn, as(annId)), { userId: annId, key: /^svc_user_/ })
  const by = { asOwner: true, asManager: true, platform: false }
  await t.rejects(createApiKey({ ...ofAnn, by }, as(ownerUserId)), { code: 'not_own_user_key' })
  const byPlatform = { ...ofAnn, by: { asOwner: true, asManager: true, platform: true } }
  t.match(await createApiKey(byPlatform, platform), { userId: annId })
})

t.test('scopes', async (t) => {
  const { createApiKey, as, annId } = await scene(t)
  const given = async (more: Partial<CreateApiKey>) =>
    (await createApiKey({ ...settings, ...more }, as(annId))).scopes
  t.equal((await given({})).length, 8)
  t.equal((await given({ type: 'user' })).length, 14)
  t.strictSame(await given({ scopes: ['rag:read', 'rag:read'] }), ['rag:read'])
  t.strictSame(await given({ scopes: ['users:delegate'], provisioning: true }), [
    'users:delegate',
    'users:provision',
  ])
  const by = { asOwner: false, asManager: false, platform: false }
  const asMember = (more: Partial<CreateApiKey>) => given({ type: 'user', by, ...more })
  await t.rejects(asMember({ scopes: ['users:delegate'] }), { code: 'scope_not_allowed' })
  await t.rejects(asMember({ provisioning: true }), { code: 'scope_not_allowed' })
  t.equal((await asMember({})).length, 14)
})

t.test('the sixth user key is refused, also when all are made at once', async (t) => {
  const { createApiKey, revokeUserKey, as, annId, read, seen } = await scene(t)
  const create = () => createApiKey({ ...settings, type: 'user' }, as(annId))
  const outcomes = await Promise.allSettled(Array.from({ length: 9 }, create))
  const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.keyId] : []))
  t.equal(made.length, 5)
  for (const one of outcomes)
    if (one.status === 'rejected') t.match(one.reason, { code: 'key_limit_reached' })
  await seen()
  const listed = await read.apiKeys.find({ index: 'by_user', equals: [annId, 'user'], limit: 10 })
  t.strictSame(
    listed.items.map(({ key_id }) => key_id).toSorted(),
    made.toSorted(),
    'no other key is left behind',
  )
  const [first = ''] = made
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

t.test('changing and revoking', async (t) => {
  const { createApiKey, changeApiKey, revokeApiKey, as, platform, annId, read, seen } =
    await scene(t)
  const { keyId } = await createApiKey(settings, as(annId))
  const change = { scopes: ['rag:read' as const], rateLimitMinute: 5 }
  await changeApiKey({ keyId, type: 'organization', change }, as(annId))
  await seen()
  t.match(await read.apiKeys.get(keyId), { scopes: ['rag:read'], rate_limit_minute: 5 })
  const elsewhere = { ...platform, organizationId: 'elsewhere' }
  await t.rejects(changeApiKey({ keyId, type: 'organization', change }, elsewhere), {
    code: 'key_not_found',
  })
  await t.rejects(revokeApiKey({ keyId }, elsewhere), { code: 'key_not_found' })
  await revokeApiKey({ keyId }, as(annId))
  await seen()
  t.equal(await read.apiKeys.get(keyId), undefined)
})

t.test('requests are counted in batches', async (t) => {
  const { createApiKey, recordKeyUsage, clock, as, annId, organizationId, read, seen } =
    await scene(t)
  const { keyId } = await createApiKey(settings, as(annId))
  const access = { ...accessIn({ organizationId, ownerUserId: annId }), keyId }
  let broken = true
  const meter = keyUsageMeter({
    clock,
    everyMs: 3_600_000,
    record: (usage, call) => {
      if (broken) throw new Error('the disk is full')
      return recordKeyUsage(usage, call)
    },
  })
  for (let n = 0; n < 3; n++) meter.count(access)
  meter.count({ ...access, kind: 'platform', keyId: null })
  await meter.flush()
  broken = false
  meter.count(access)
  await meter.close()
  await seen()
  const view = await read.apiKeys.get(keyId)
  t.equal(view?.request_count, 4, 'what could not be written was kept')
  t.match(view?.last_used_at, /^2026-01-01T/)
})

t.test('the counts of many keys are written a handful at a time', async (t) => {
  const { clock, ...owned } = await scene(t)
  const access = accessIn(owned)
  const written = new Set<string>()
  let writing = 0
  let most = 0
  const meter = keyUsageMeter({
    clock,
    everyMs: 3_600_000,
    async record({ keyId }) {
      most = Math.max(most, ++writing)
      await new Promise(setImmediate)
      writing--
      written.add(keyId)
      return { position: 0 }
    },
  })
  for (let n = 0; n < 500; n++) meter.count({ ...access, keyId: `key-${n}` })
  await meter.close()
  t.equal(written.size, 500)
  t.ok(most <= 5, `${most} at once`)
})

t.test('keys that were first used together are not all written together', async (t) => {
  const access = accessIn(await scene(t))
  let now = 0
  const written: string[] = []
  let tick = () => {}
  const meter = keyUsageMeter({
    clock: { now: () => new Date(now), id: () => 'id' },
    everyMs: 5_000,
    every: (work) => {
      tick = work
      return () => {}
    },
    record: async ({ keyId }) => {
      written.push(keyId)
      return { position: 0 }
    },
  })
  const later = async (ms: number) => {
    now += ms
    tick()
    await new Promise(setImmediate)
  }
  for (let n = 0; n < 1_000; n++) meter.count({ ...access, keyId: `key-${n}` })
  await later(4_750)
  t.equal(written.length, 0, 'a key is written when it has waited for five seconds')
  await later(250)
  t.equal(written.length, 10)
  await later(50)
  t.equal(written[0], 'key-0')
  t.ok(written.length > 10 && written.length < 30)
  await meter.close()
  t.equal(new Set(written).size, 1_000)
})
