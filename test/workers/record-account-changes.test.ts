import t, { type Test } from 'tap'
import type { RecordAccountChange } from '../../commands/record-account-change.ts'
import type { AccountChangeView } from '../../projections/account-changes.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { recordAccountChanges } from '../../src/workers/record-account-changes.ts'
import { commanded } from '../support/commanded.ts'
import { gathered } from '../support/noted.ts'
import { at } from '../support/positions.ts'
import { platformCall } from '../support/recorded.ts'

/** Two organizations; Ann is the owner of the first and a member of both. */
const scene = async (t: Test) => {
  const all = await commanded(t)
  const { createOrganization, addMember, recordLogin, read, clock, store, seen } = all
  const createWithOwner = async (name: string, email: string) => {
    const owner = { email, name }
    const created = await createOrganization({ name, owner }, platformCall)
    return { ...created, by: { ...platformCall, organizationId: created.organizationId } }
  }
  const orgOne = await createWithOwner('One', 'ann@example.com')
  const orgTwo = await createWithOwner('Two', 'olga@example.com')
  const orgThree = await createWithOwner('Three', 'otto@example.com')
  await addMember({ email: 'ann@example.com', role: 'MEMBER' }, orgTwo.by)
  const accept = [{ organizationId: orgTwo.organizationId, allowBacking: false }]
  const login = { email: 'ann@example.com', provider: 'sso', subject: 'ann', accept }
  await recordLogin(login, platformCall)
  const teller = (record = all.recordAccountChange) => {
    const uses = { accountChanges: read.accountChanges, waitForPosition: seen, clock, log: silent }
    return recordAccountChanges({ ...uses, recordAccountChange: record })
  }
  /** The account changes in the history of an organization. */
  const changesOf = async (organizationId: string) =>
    (await gathered(store.history(-1 as never))).filter(
      ({ type, metadata }) =>
        type === 'MemberAccountChanged' && metadata.organization_id === organizationId,
    )
  const recordChanges = async () => {
    await seen()
    await teller()()
    await seen()
  }
  const ids = [orgOne, orgTwo, orgThree].map(({ organizationId }) => organizationId)
  return {
    ...all,
    orgOne,
    orgTwo,
    orgThree,
    userId: orgOne.ownerUserId,
    teller,
    changesOf,
    recordChanges,
    ids,
  }
}

t.test('every organization of the user records a change once, and no other does', async (t) => {
  const { grantCredits, setSubscription, userId, changesOf, recordChanges, ids, read } =
    await scene(t)
  await recordChanges()
  const before = await Promise.all(ids.map(async (id) => (await changesOf(id)).length))
  t.strictSame(before, [1, 0, 0], 'of the identity, linked before she joined the second')
  await grantCredits({ userId, amount: 5, reason: 'for Two' }, platformCall)
  await setSubscription({ userId, plan: 'pro_monthly' }, platformCall)
  await recordChanges()
  await recordChanges()
  const [firstEvents = [], secondEvents = [], thirdEvents = []] = await Promise.all(
    ids.map(changesOf),
  )
  for (const events of [firstEvents.slice(1), secondEvents])
    t.match(
      events.map(({ data }) => data),
      [
        { change: { kind: 'credits', amount: 5 } },
        { change: { kind: 'plan', plan: 'pro_monthly' } },
      ],
    )
  t.equal(thirdEvents.length, 0)
  const untold = await read.accountChanges.find({ index: 'untold', equals: [true], limit: 10 })
  t.strictSame(untold, { items: [], total: 0 })
  const text = JSON.stringify(secondEvents)
  t.notMatch(text, 'for Two', 'no words of the platform')
  t.notMatch(text, ids[0] ?? '', 'nothing of another organization')
  for (const { metadata, data } of secondEvents)
    t.match(metadata, {
      actor: { key_id: null, user_id: null },
      request_id: (data as RecordAccountChange).eventId,
    })
})

t.test('the next run resumes one that was cut off, and records nothing twice', async (t) => {
  const all = await scene(t)
  const { grantCredits, userId, changesOf, recordChanges, ids, seen, teller, recordAccountChange } =
    all
  await recordChanges()
  for (let n = 1; n <= 4; n++)
    await grantCredits({ userId, amount: n, reason: 'gift' }, platformCall)
  await seen()
  let calls = 0
  const failing: typeof recordAccountChange = async (...args) => {
    if (++calls > 3) throw new Error('cut off')
    return recordAccountChange(...args)
  }
  await teller(failing)()
  // The views of another process may be behind: it tells what was told already.
  await Promise.all([teller()(), teller()()])
  await recordChanges()
  for (const id of ids.slice(0, 2)) {
    const changes = (await changesOf(id)).map(({ data }) => (data as RecordAccountChange).change)
    t.strictSame(
      changes.filter(({ kind }) => kind === 'credits'),
      [1, 2, 3, 4].map((amount) => ({ kind: 'credits', amount })),
      'each once, in order',
    )
  }
})

t.test('a change is recorded in the organizations of the user at its time', async (t) => {
  const all = await scene(t)
  const {
    grantCredits,
    addMember,
    acceptInvitation,
    removeMember,
    userId,
    changesOf,
    recordChanges,
  } = all
  const { orgTwo, orgThree } = all
  await recordChanges()
  await grantCredits({ userId, amount: 1, reason: 'gift' }, platformCall)
  await removeMember({ userId, by: { asOwner: true } }, orgTwo.by)
  await addMember({ email: 'ann@example.com', role: 'MEMBER' }, orgThree.by)
  const { organizationId } = orgThree
  const accept = { organizationId, userId, allowBacking: false, current: false }
  await acceptInvitation(accept, platformCall)
  await recordChanges()
  t.equal((await changesOf(orgTwo.organizationId)).length, 1)
  t.equal((await changesOf(organizationId)).length, 0)
  await grantCredits({ userId, amount: 2, reason: 'gift' }, platformCall)
  await recordChanges()
  t.equal((await changesOf(orgTwo.organizationId)).length, 1)
  t.equal((await changesOf(organizationId)).length, 1)
})

t.test('a run tells no more than a thousand changes, a hundred at a time', async (t) => {
  const { clock } = await commanded(t)
  let recorded = 0
  let reads = 0
  const change = (n: number): AccountChangeView => ({
    organization_id: `org-${n % 7}`,
    user_id: `user-${n % 5}`,
    untold: true,
    event_id: `event-${n}`,
    position: at(n),
    at: clock.now().toISOString(),
    change: { kind: 'identity' },
  })
  const accountChanges = {
    get: async () => undefined,
    find: async ({ limit }: { limit: number }) => {
      reads++
      return { items: Array.from({ length: limit }, (_, n) => change(recorded + n)), total: 5_000 }
    },
    all: () => (async function* () {})(),
  }
  const waited: number[] = []
  await recordAccountChanges({
    accountChanges,
    recordAccountChange: async () => ({ position: at(++recorded) }),
    waitForPosition: async (position) => waited.push(position),
    clock,
    log: silent,
  })()
  t.strictSame([recorded, reads], [1_000, 10])
  t.strictSame(
    waited,
    Array.from({ length: 10 }, (_, n) => 100 * (n + 1)),
  )

  const down = recordAccountChanges({
    accountChanges,
    recordAccountChange: async () => Promise.reject(new StoreUnavailable('not now')),
    waitForPosition: async () => t.fail('nothing was told'),
    clock,
    log: silent,
  })
  await t.rejects(down(), { name: 'StoreUnavailable' })
  t.equal(reads, 11, 'a store that is down is asked again by the next run')
})

t.test('a membership that cannot be told keeps no other waiting, and stays in order', async (t) => {
  const all = await scene(t)
  const {
    grantCredits,
    userId,
    seen,
    teller,
    recordAccountChange,
    changesOf,
    recordChanges,
    ids,
    read,
  } = all
  await recordChanges()
  for (let n = 1; n <= 120; n++)
    await grantCredits({ userId, amount: n, reason: 'gift' }, platformCall)
  await seen()
  const [stuck, other] = ids
  const damaged: typeof recordAccountChange = async (change, call) => {
    if (call.organizationId === stuck) throw new Error('damaged')
    return recordAccountChange(change, call)
  }
  await teller(damaged)()
  await seen()
  t.equal((await changesOf(other ?? '')).length, 120)
  t.equal((await changesOf(stuck ?? '')).length, 1)
  t.equal(
    (await read.accountChanges.find({ index: 'untold', equals: [true], limit: 1 })).total,
    120,
  )
  await teller()()
  const amounts = (await changesOf(stuck ?? ''))
    .map(({ data }) => (data as RecordAccountChange).change)
    .flatMap((change) => (change.kind === 'credits' ? [change.amount] : []))
  t.strictSame(
    amounts,
    Array.from({ length: 120 }, (_, n) => n + 1),
  )
})
