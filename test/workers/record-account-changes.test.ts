import t, { type Test } from 'tap'
import type { RecordAccountChange } from '../../commands/record-account-change.ts'
import type { AccountChangeView } from '../../projections/account-changes.ts'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { recordAccountChanges } from '../../src/workers/record-account-changes.ts'
import { commanded, platformCall } from '../support/commanded.ts'
import { gathered } from '../support/noted.ts'
import { at } from '../support/positions.ts'

/** Two organizations; Ann is the owner of the first and a member of both. */
const scene = async (t: Test) => {
  const all = await commanded(t)
  const { createOrganization, addMember, recordLogin, read, clock, store, seen } = all
  const found = async (name: string, email: string) => {
    const owner = { email, name }
    const made = await createOrganization({ name, owner }, platformCall)
    return { ...made, by: { ...platformCall, organizationId: made.organizationId } }
  }
  const one = await found('One', 'ann@example.com')
  const two = await found('Two', 'olga@example.com')
  const three = await found('Three', 'otto@example.com')
  await addMember({ email: 'ann@example.com', role: 'MEMBER' }, two.by)
  const accept = [{ organizationId: two.organizationId, allowBacking: false }]
  const login = { email: 'ann@example.com', provider: 'sso', subject: 'ann', accept }
  await recordLogin(login, platformCall)
  const teller = (record = all.recordAccountChange) => {
    const uses = { accountChanges: read.accountChanges, waitForPosition: seen, clock, log: silent }
    return recordAccountChanges({ ...uses, recordAccountChange: record })
  }
  /** What the history of an organization tells of accounts. */
  const told = async (organizationId: string) =>
    (await gathered(store.history(-1 as never))).filter(
      ({ type, metadata }) =>
        type === 'MemberAccountChanged' && metadata.organization_id === organizationId,
    )
  const tell = async () => {
    await seen()
    await teller()()
    await seen()
  }
  const ids = [one, two, three].map(({ organizationId }) => organizationId)
  return { ...all, one, two, three, userId: one.ownerUserId, teller, told, tell, ids }
}

t.test('every organization of the user is told once, and no other', async (t) => {
  const { grantCredits, setSubscription, userId, told, tell, ids, read } = await scene(t)
  await tell()
  const before = await Promise.all(ids.map(async (id) => (await told(id)).length))
  t.strictSame(before, [1, 0, 0], 'of the identity, linked before she joined the second')
  await grantCredits({ userId, amount: 5, reason: 'for Two' }, platformCall)
  await setSubscription({ userId, plan: 'pro_monthly' }, platformCall)
  await tell()
  await tell()
  const [one = [], two = [], three = []] = await Promise.all(ids.map(told))
  for (const events of [one.slice(1), two])
    t.match(
      events.map(({ data }) => data),
      [
        { change: { kind: 'credits', amount: 5 } },
        { change: { kind: 'plan', plan: 'pro_monthly' } },
      ],
    )
  t.equal(three.length, 0)
  const untold = await read.accountChanges.find({ index: 'untold', equals: [true], limit: 10 })
  t.strictSame(untold, { items: [], total: 0 })
  const text = JSON.stringify(two)
  t.notMatch(text, 'for Two', 'no words of the platform')
  t.notMatch(text, ids[0] ?? '', 'nothing of another organization')
  for (const { metadata, data } of two)
    t.match(metadata, {
      actor: { key_id: null, user_id: null },
      request_id: (data as RecordAccountChange).eventId,
    })
})

t.test('a run that was cut off is gone on with, without a second telling', async (t) => {
  const all = await scene(t)
  const { grantCredits, userId, told, tell, ids, seen, teller, recordAccountChange } = all
  await tell()
  for (let n = 1; n <= 4; n++)
    await grantCredits({ userId, amount: n, reason: 'gift' }, platformCall)
  await seen()
  let calls = 0
  const failing: typeof recordAccountChange = async (...asked) => {
    if (++calls > 3) throw new Error('cut off')
    return recordAccountChange(...asked)
  }
  await teller(failing)()
  // The views of another process may be behind: it tells what was told already.
  await Promise.all([teller()(), teller()()])
  await tell()
  for (const id of ids.slice(0, 2)) {
    const changes = (await told(id)).map(({ data }) => (data as RecordAccountChange).change)
    t.strictSame(
      changes.filter(({ kind }) => kind === 'credits'),
      [1, 2, 3, 4].map((amount) => ({ kind: 'credits', amount })),
      'each once, in order',
    )
  }
})

t.test('one who joins or leaves meanwhile is told of by what she was at the time', async (t) => {
  const all = await scene(t)
  const { grantCredits, addMember, acceptInvitation, removeMember, userId, told, tell } = all
  const { two, three } = all
  await tell()
  await grantCredits({ userId, amount: 1, reason: 'gift' }, platformCall)
  await removeMember({ userId, by: { asOwner: true } }, two.by)
  await addMember({ email: 'ann@example.com', role: 'MEMBER' }, three.by)
  const { organizationId } = three
  const accept = { organizationId, userId, allowBacking: false, current: false }
  await acceptInvitation(accept, platformCall)
  await tell()
  t.equal((await told(two.organizationId)).length, 1)
  t.equal((await told(organizationId)).length, 0)
  await grantCredits({ userId, amount: 2, reason: 'gift' }, platformCall)
  await tell()
  t.equal((await told(two.organizationId)).length, 1)
  t.equal((await told(organizationId)).length, 1)
})

t.test('a run tells no more than a thousand changes, a hundred at a time', async (t) => {
  const { clock } = await commanded(t)
  let told = 0
  let found = 0
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
      found++
      return { items: Array.from({ length: limit }, (_, n) => change(told + n)), total: 5_000 }
    },
    all: () => (async function* () {})(),
  }
  const waited: number[] = []
  await recordAccountChanges({
    accountChanges,
    recordAccountChange: async () => ({ position: at(++told) }),
    waitForPosition: async (position) => waited.push(position),
    clock,
    log: silent,
  })()
  t.strictSame([told, found], [1_000, 10])
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
  t.equal(found, 11, 'a store that is down is asked again by the next run')
})

t.test('a membership that cannot be told keeps no other waiting, and stays in order', async (t) => {
  const all = await scene(t)
  const { grantCredits, userId, seen, teller, recordAccountChange, told, tell, ids, read } = all
  await tell()
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
  t.equal((await told(other ?? '')).length, 120)
  t.equal((await told(stuck ?? '')).length, 1)
  t.equal(
    (await read.accountChanges.find({ index: 'untold', equals: [true], limit: 1 })).total,
    120,
  )
  await teller()()
  const amounts = (await told(stuck ?? ''))
    .map(({ data }) => (data as RecordAccountChange).change)
    .flatMap((change) => (change.kind === 'credits' ? [change.amount] : []))
  t.strictSame(
    amounts,
    Array.from({ length: 120 }, (_, n) => n + 1),
  )
})
