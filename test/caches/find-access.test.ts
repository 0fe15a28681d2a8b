import { Subject } from 'rxjs'
import t, { type Test } from 'tap'
import type { Changed } from '../../src/caches/changed.ts'
import { findAccess } from '../../src/caches/find-access.ts'
import { platformGiver } from '../../src/domain/api-key/who-may.ts'
import type { View } from '../../src/ports/views.ts'
import type { Access } from '../../src/security/access.ts'
import { type Commanded, commanded } from '../support/commanded.ts'
import { superAdminKey } from '../support/platform.ts'
import { platformCall } from '../support/recorded.ts'

/** An organization with an owner, and whatever finds access in it. */
const scene = async (t: Test, { sharedViews = true } = {}) => {
  const all = await commanded(t)
  const { createOrganization, createApiKey, clock, secrets, read, changes, seen } = all
  const owner = { email: 'owner@example.com' }
  const organization = await createOrganization(
    { name: 'Acme', owner, plan: 'pro_monthly' },
    platformCall,
  )
  const inside = { ...platformCall, organizationId: organization.organizationId }
  const keyOf = async (settings: Partial<Parameters<typeof createApiKey>[0]> = {}) => {
    const created = await createApiKey(
      {
        type: 'organization',
        name: 'Key',
        description: '',
        rateLimitMinute: 60,
        rateLimitHour: 600,
        expiresAt: null,
        provisioning: false,
        by: platformGiver,
        ...settings,
      },
      inside,
    )
    await seen()
    return created
  }
  const start = Date.parse('2026-01-01T00:00:00.000Z')
  let at = start
  let stepped = 0
  let reads = 0
  const counting = <Doc>(view: View<Doc>): View<Doc> => ({
    ...view,
    get: (id) => {
      reads++
      return view.get(id)
    },
  })
  const access = findAccess({
    apiKeys: read.apiKeys,
    consoleSessions: read.consoleSessions,
    members: read.members,
    users: counting(read.users),
    changes,
    sharedViews,
    hashApiKey: secrets.hashApiKey,
    hashConsoleToken: secrets.hashConsoleToken,
    superAdminKey,
    clock: { now: () => new Date(at + stepped), monotonic: () => at - start },
  })
  t.teardown(access.close)
  return {
    ...all,
    ...organization,
    inside,
    clock,
    keyOf,
    find: async (key?: string, organization?: string) => access.find(key, organization),
    findNow: access.find,
    reads: () => reads,
    later: (ms: number) => {
      at += ms
    },
    /** Wall time steps. */
    step: (ms: number) => {
      stepped += ms
    },
  }
}

/** What was found is answered without a read for so long, and then read again. */
const readAgainAfter = async (
  t: Test,
  { find, reads, later }: Awaited<ReturnType<typeof scene>>,
  { key, keyId, ms }: { key: string; keyId: string; ms: number },
) => {
  const read = reads()
  later(ms - 1)
  t.match(await find(key), { keyId })
  t.equal(reads(), read)
  later(1)
  t.match(await find(key), { keyId })
  t.equal(reads(), read + 1)
}

/** A second organization with another owner. */
const elsewhere = async ({ createOrganization, seen }: Commanded) => {
  const owner = { email: 'other@example.com' }
  const { organizationId } = await createOrganization({ name: 'Apex', owner }, platformCall)
  await seen()
  return organizationId
}

const summarize = ({ scopes, keyScopes, ...access }: Access) => ({
  ...access,
  scopes: scopes.size,
  keyScopes: keyScopes.size,
})

t.test('an organization key acts in its own organization', async (t) => {
  const all = await scene(t)
  const { organizationId, ownerUserId } = all
  const { key, keyId } = await all.keyOf()
  t.strictSame(summarize(await all.find(key)), {
    kind: 'organization',
    keyId,
    organizationId,
    userId: ownerUserId,
    role: 'OWNER',
    limits: { minute: 60, hour: 600 },
    plan: 'pro_monthly',
    scopes: 8,
    keyScopes: 8,
  })
  t.match(await all.find(key, organizationId), { keyId }, 'its own may be named')
  const other = await elsewhere(all)
  await t.rejects(all.find(key, other), { code: 'organization_access_denied' })
  await t.rejects(all.find(key, 'x'.repeat(5_000)), { code: 'organization_access_denied' })
})

t.test('a user key acts where the header says, else where its user is', async (t) => {
  const all = await scene(t)
  const { organizationId } = all
  const { key } = await all.keyOf({ type: 'user' })
  t.match(await all.find(key), { kind: 'user', organizationId, role: 'OWNER' })
  const other = await elsewhere(all)
  await t.rejects(all.find(key, other), { code: 'organization_access_denied' })
  await t.rejects(all.find(key, 'x'.repeat(5_000)), { code: 'organization_access_denied' })
  const owner = { email: 'OWNER@example.com ' }
  const second = await all.createOrganization({ name: 'Second', owner }, platformCall)
  await all.seen()
  t.match(await all.find(key, second.organizationId), { organizationId: second.organizationId })
  t.match(await all.find(key), { organizationId }, 'the current one stays')
})

t.test('a pending member has no access yet', async (t) => {
  const all = await scene(t)
  const { key } = await all.keyOf({ type: 'user' })
  const owner = { email: 'other@example.com' }
  const other = await all.createOrganization({ name: 'Apex', owner }, platformCall)
  const there = { ...platformCall, organizationId: other.organizationId }
  await all.addMember({ email: 'owner@example.com', role: 'MEMBER' }, there)
  await all.seen()
  await t.rejects(all.find(key, other.organizationId), { code: 'organization_access_denied' })
  const login = { email: 'owner@example.com', provider: 'google', subject: '1' }
  await all.recordLogin(login, platformCall)
  await all.seen()
  await t.rejects(all.find(key, other.organizationId), { code: 'organization_access_denied' })
  const { organizationId } = other
  const invitation = { organizationId, userId: all.ownerUserId, allowBacking: false }
  await all.acceptInvitation({ ...invitation, current: false }, platformCall)
  await all.seen()
  t.match(await all.find(key, organizationId), { role: 'MEMBER' })
  t.match(await all.find(key), { organizationId: all.organizationId }, 'the current one stays')
  await all.enterOrganization(invitation, platformCall)
  await all.seen()
  t.match(await all.find(key), { organizationId }, 'until its user says so')
})

t.test('keys that are missing, unknown, revoked or expired', async (t) => {
  const all = await scene(t)
  const { key, keyId } = await all.keyOf({ expiresAt: '2026-01-01T00:01:00.000Z' })
  await t.rejects(all.find(undefined), { code: 'missing_api_key' })
  await t.rejects(all.find(''), { code: 'missing_api_key' })
  await t.rejects(all.find('svc_live_unknown'), { code: 'invalid_api_key' })
  t.match(await all.find(key), { keyId })
  all.later(59_999)
  t.match(await all.find(key), { keyId })
  all.later(1)
  await t.rejects(all.find(key), { code: 'invalid_api_key' }, 'also while it is cached')
  all.later(60_000)
  await t.rejects(all.find(key), { code: 'invalid_api_key' })

  const other = await all.keyOf()
  t.match(await all.find(other.key), { keyId: other.keyId })
  await all.revokeApiKey({ keyId: other.keyId, by: platformGiver }, all.inside)
  await all.seen()
  await t.rejects(all.find(other.key), { code: 'invalid_api_key' })
})

t.test('keys end with the membership of their user', async (t) => {
  const all = await scene(t)
  const { inside } = all
  const { userId } = await all.addMember({ email: 'ann@example.com', role: 'ADMIN' }, inside)
  const accept = [{ organizationId: inside.organizationId, allowBacking: false }]
  const login = { email: 'ann@example.com', provider: 'google', subject: '1', accept }
  await all.recordLogin(login, platformCall)
  const organization = await all.keyOf({ userId })
  const user = await all.keyOf({ userId, type: 'user' })
  t.match(await all.find(organization.key), { role: 'ADMIN' })
  t.match(await all.find(user.key), { role: 'ADMIN' })
  await all.removeMember({ userId, by: platformGiver }, inside)
  await all.seen()
  await t.rejects(all.find(organization.key), { code: 'invalid_api_key' })
  await t.rejects(all.find(user.key), { code: 'organization_access_denied' })
})

t.test('a key from before a member was removed works no more when she joins again', async (t) => {
  const all = await scene(t)
  const { inside } = all
  const { organizationId } = inside
  const join = async () => {
    const { userId } = await all.addMember({ email: 'ann@example.com', role: 'ADMIN' }, inside)
    const accept = [{ organizationId, allowBacking: false }]
    const login = { email: 'ann@example.com', provider: 'google', subject: '1', accept }
    await all.recordLogin(login, platformCall)
    return userId
  }
  const userId = await join()
  const organization = await all.keyOf({ userId })
  const user = await all.keyOf({ userId, type: 'user' })
  // Without the ids of her keys, as in histories from before they were revoked.
  await all.removeMember({ userId, by: platformGiver }, inside)
  t.equal(await join(), userId)
  await all.seen()
  await t.rejects(all.find(organization.key), { code: 'invalid_api_key' })
  await t.rejects(all.find(user.key), { code: 'organization_access_denied' })
  const newer = await all.keyOf({ userId })
  t.match(await all.find(newer.key), { role: 'ADMIN' })
  t.match(await all.find((await all.keyOf({ userId, type: 'user' })).key), { role: 'ADMIN' })
})

t.test('a user key is from before a membership that its user declined at first', async (t) => {
  const all = await scene(t)
  const { key } = await all.keyOf({ type: 'user', userId: all.ownerUserId })
  const other = { email: 'other@example.com' }
  const { organizationId } = await all.createOrganization({ name: 'B', owner: other }, platformCall)
  const there = { ...platformCall, organizationId }
  const invitation = { organizationId, userId: all.ownerUserId }
  await all.addMember({ email: 'owner@example.com', role: 'MEMBER' }, there)
  await all.declineInvitation(invitation, platformCall)
  await all.addMember({ email: 'owner@example.com', role: 'MEMBER' }, there)
  await all.acceptInvitation({ ...invitation, allowBacking: false, current: false }, platformCall)
  await all.seen()
  t.match(await all.find(key, organizationId), { role: 'MEMBER' })
})

t.test('the platform’s key', async (t) => {
  const { find } = await scene(t)
  const access = await find(superAdminKey)
  t.match(access, { kind: 'platform', keyId: null, userId: null, organizationId: 'platform' })
  t.strictSame([...access.scopes], ['admin:read', 'admin:write'])
  await t.rejects(find(`${superAdminKey}x`), { code: 'invalid_api_key' })
})

t.test('cached access is returned without a promise until something changes', async (t) => {
  const all = await scene(t)
  const { findNow, find, reads, inside, seen } = all
  const { key, keyId } = await all.keyOf()
  t.type(findNow(key, undefined), Promise)
  await find(key)
  const before = reads()
  t.match(findNow(key, undefined), { keyId, limits: { minute: 60 } })
  t.equal(reads(), before)
  await all.changeApiKey(
    { keyId, type: 'organization', change: { rateLimitMinute: 7 }, by: platformGiver },
    inside,
  )
  await seen()
  t.match(await find(key), { limits: { minute: 7 } })
  await all.setSubscription({ userId: all.ownerUserId, plan: null }, platformCall)
  await seen()
  t.match(await find(key), { plan: null })
  // Another node may have changed something.
  await readAgainAfter(t, all, { key, keyId, ms: 3_000 })
})

t.test('where one process projects, cached access is read again each minute', async (t) => {
  const all = await scene(t, { sharedViews: false })
  const { find, inside, seen } = all
  const { key, keyId } = await all.keyOf()
  await find(key)
  await readAgainAfter(t, all, { key, keyId, ms: 60_000 })
  await all.revokeApiKey({ keyId, by: platformGiver }, inside)
  await seen()
  await t.rejects(find(key), { code: 'invalid_api_key' }, 'at once')
})

t.test('recording the use of a key keeps its cached access', async (t) => {
  const all = await scene(t)
  const { findNow, find, reads, inside, seen } = all
  const { key, keyId } = await all.keyOf()
  const use = { requests: 3, lastUsedAt: '2026-01-01T00:00:00.000Z' }
  await find(key)
  const before = reads()
  await all.recordKeyUsage({ keyId, type: 'organization', ...use }, inside)
  await seen()
  t.match(await all.read.apiKeys.get(keyId), { request_count: 3 })
  t.match(findNow(key, undefined), { keyId })
  t.equal(reads(), before)
  await all.revokeApiKey({ keyId, by: platformGiver }, inside)
  await seen()
  await t.rejects(find(key), { code: 'invalid_api_key' })
})

/** A cache of access that receives only these changes. */
const accessWith = (
  t: Test,
  { read, secrets }: Commanded,
  changes: Subject<readonly Changed[]>,
) => {
  const access = findAccess({
    ...read,
    changes,
    sharedViews: false,
    hashApiKey: secrets.hashApiKey,
    hashConsoleToken: secrets.hashConsoleToken,
    superAdminKey: undefined,
    clock: { now: () => new Date(0), monotonic: () => 0 },
  })
  t.teardown(access.close)
  return access
}

t.test('cached access is read again after its read model was rebuilt', async (t) => {
  const all = await scene(t, { sharedViews: false })
  const { key, keyId } = await all.keyOf()
  const changes = new Subject<readonly Changed[]>()
  const access = accessWith(t, all, changes)
  await access.find(key, undefined)
  changes.next([{ view: 'sessions', changes: [], anew: true }])
  t.match(access.find(key, undefined), { keyId })
  changes.next([{ view: 'members', changes: [], anew: true }])
  t.type(access.find(key, undefined), Promise)
})

t.test('access that changes while it is read is not cached', async (t) => {
  const all = await scene(t)
  const { key, keyId } = await all.keyOf()
  const changes = new Subject<readonly Changed[]>()
  const users: View<NonNullable<Awaited<ReturnType<typeof all.read.users.get>>>> = {
    ...all.read.users,
    async get(id) {
      const user = await all.read.users.get(id)
      changes.next([{ view: 'api_keys', changes: [{ id: keyId, document: undefined }] }])
      return user
    },
  }
  const access = accessWith(t, { ...all, read: { ...all.read, users } }, changes)
  await access.find(key, undefined)
  t.type(access.find(key, undefined), Promise)
})

t.test('a cached access expires in time after the clock is set back', async (t) => {
  const all = await scene(t, { sharedViews: true })
  const { key, keyId } = await all.keyOf()
  await all.find(key)
  all.step(-3_600_000)
  await readAgainAfter(t, all, { key, keyId, ms: 3_000 })
})
