import { randomUUID } from 'node:crypto'
import { NEVER } from 'rxjs'
import t, { type Test } from 'tap'
import { embeddedLeases } from '../../src/adapters/embedded/leases.ts'
import type { Leases } from '../../src/ports/leases.ts'
import { silent } from '../../src/ports/log.ts'
import type { Commit, Views } from '../../src/ports/views.ts'
import { whileLeading } from '../../src/projector/leadership.ts'
import { projector } from '../../src/projector/projector.ts'
import { deferred } from '../../src/support/deferred.ts'
import { put, say } from '../support/box-history.ts'
import { eventually } from '../support/eventually.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { asStraight } from '../support/sequential-feed.ts'
import { boxEvents, boxes, things, toys } from '../support/toys.ts'

const patience = 10_000
const quick = { name: 'projector', ttlMs: 240, renewMs: 60, retryMs: 20 }

/** Views that note who commits what. */
const noting = (views: Views, who: string, notes: { who: string; position: number }[]): Views => ({
  ...views,
  async commit(commits: readonly Commit[]) {
    notes.push(...commits.slice(0, 1).map(({ position }) => ({ who, position })))
    await views.commit(commits)
  },
})

/** Leases that can be cut off from one holder. */
const severed = (leases: Leases) => {
  let cut = false
  const acquire: Leases['acquire'] = async (...given) => {
    if (cut) throw new Error('the lease store is out of reach')
    return leases.acquire(...given)
  }
  return {
    leases: { ...leases, acquire },
    cut: () => {
      cut = true
    },
  }
}

t.test('one projects, the other sees it and takes over', async (t) => {
  const { store, views } = await opened(t)
  const leases = embeddedLeases()
  const notes: { who: string; position: number }[] = []
  const first = severed(leases)
  const a = projector({
    store,
    views: noting(views, 'a', notes),
    projections: toys,
    lease: { ...quick, leases: first.leases, holder: randomUUID() },
  })
  const b = projector({
    store,
    views: noting(views, 'b', notes),
    projections: toys,
    lease: { ...quick, leases, holder: randomUUID() },
  })
  await a.start()
  await say(store, [put('b-1', 'cup')])
  t.ok(await a.waitForPosition(at(0), patience))
  await b.start()
  t.ok(await b.waitForPosition(at(0), patience), 'it looks at what the other has stored')
  await t.rejects(b.rebuild('boxes'), { message: /another process projects/ })
  t.strictSame(new Set(notes.map(({ who }) => who)), new Set(['a']))

  first.cut()
  for (let n = 1; notes.at(-1)?.who !== 'b' && n < 500; n++) {
    await say(store, [put('b-1', 'cup')])
    t.ok(await b.waitForPosition(at(n), patience))
  }
  const handover = notes.findIndex(({ who }) => who === 'b')
  t.ok(
    notes.slice(handover).every(({ who }) => who === 'b'),
    'the first has stopped before',
  )
  t.ok(
    notes.every(({ position }, n) => position > (notes[n - 1]?.position ?? -1)),
    'nothing is folded twice',
  )
  await a.stop()
  await b.stop()
  await asStraight(t, store, views, toys)
})

t.test('a stop hands over at once', async (t) => {
  const { store, views } = await opened(t)
  const leases = embeddedLeases()
  const forever = { ...quick, leases, ttlMs: 3_600_000 }
  const [a, b] = ['a', 'b'].map((holder) =>
    projector({ store, views, projections: toys, lease: { ...forever, holder } }),
  )
  await a?.start()
  await say(store, [put('b-1', 'cup')])
  t.ok(await a?.waitForPosition(at(0), patience))
  await b?.start()
  await a?.stop()
  await say(store, [put('b-1', 'hat')])
  t.ok(await b?.waitForPosition(at(1), patience))
  await b?.stop()
  await asStraight(t, store, views, toys)
})

t.test('a holder whose lease ran out in the middle of a batch writes nothing of it', async (t) => {
  const { store, views } = await opened(t)
  const leases = embeddedLeases()
  let time = 0
  const wall = () => new Date(0)
  const loading = deferred<void>()
  const loaded = deferred<void>()
  const notes: { who: string; position: number }[] = []
  const slow: Views = {
    ...noting(views, 'a', notes),
    async load(...given) {
      loading.resolve()
      await loaded.promise
      return views.load(...given)
    },
  }
  const a = projector({
    store,
    views: slow,
    projections: toys,
    lease: { name: 'projector', holder: 'a', leases, clock: { now: wall, monotonic: () => time } },
  })
  await a.start()
  await say(store, [put('b-1', 'cup')])
  await loading.promise
  time = 8_000
  await leases.release('projector', 'a')
  const b = projector({
    store,
    views: noting(views, 'b', notes),
    projections: toys,
    lease: { name: 'projector', holder: 'b', leases },
  })
  await b.start()
  t.ok(await b.waitForPosition(at(0), patience))
  loaded.resolve()
  await a.stop()
  await b.stop()
  t.strictSame(notes, [{ who: 'b', position: 0 }])
  await asStraight(t, store, views, toys)
})

/** A holder at work whose clocks are set by hand, and the answers to its lease. */
const holding = async (t: Test) => {
  const at = { wall: 0, monotonic: 0 }
  const clock = { now: () => new Date(at.wall), monotonic: () => at.monotonic }
  const leases = embeddedLeases({ now: () => new Date(0), monotonic: () => 0 })
  const lease = { name: 'projector', holder: 'a', leases, ttlMs: 8_000, renewMs: 3_600_000, clock }
  const leadership = deferred<() => boolean>()
  const running = whileLeading(lease, { log: silent }, (leading) => {
    leadership.resolve(leading)
    return NEVER
  }).subscribe()
  t.teardown(() => running.unsubscribe())
  return { at, leading: await leadership.promise }
}

t.test('a holder stops writing after its machine was suspended', async (t) => {
  const { at, leading } = await holding(t)
  Object.assign(at, { monotonic: 1_000, wall: 1_000 })
  t.equal(leading(), true)
  at.wall += 60_000
  t.equal(leading(), false, 'the monotonic clock stood still')
})

t.test('setting back a holder’s clock does not extend its lease', async (t) => {
  const { at, leading } = await holding(t)
  at.wall -= 3_600_000
  at.monotonic = 5_999
  t.equal(leading(), true)
  at.monotonic = 6_000
  t.equal(leading(), false)
})

t.test(
  'a node that meets an event of a later release gives the lease up to one that knows it',
  async (t) => {
    const { store, views } = await opened(t)
    const leases = embeddedLeases()
    const { BoxPainted: _, ...fewer } = boxEvents
    const older = projector({
      store,
      views,
      projections: [{ ...boxes, events: fewer as typeof boxEvents }, things],
      lease: { ...quick, restMs: 100, leases, holder: 'older' },
    })
    const newer = projector({
      store,
      views,
      projections: [boxes, things],
      lease: { ...quick, leases, holder: 'newer' },
    })
    await older.start()
    await say(store, [put('b-1', 'cup')])
    t.ok(await older.waitForPosition(at(0), patience))
    await newer.start()
    await say(store, [{ stream: 'b-1', type: 'BoxPainted', data: { colour: 'red' } }])
    t.ok(await newer.waitForPosition(at(1), patience, ['boxes']))
    t.ok(newer.holds())
    t.notOk(older.holds())
    await older.stop()
    await newer.stop()
  },
)

t.test('a single node takes the lease again and projects the other read models', async (t) => {
  const { store, views } = await opened(t)
  const leases = embeddedLeases()
  const { BoxPainted: _, ...fewer } = boxEvents
  const alone = projector({
    store,
    views,
    projections: [{ ...boxes, events: fewer as typeof boxEvents }, things],
    lease: { ...quick, restMs: 40, leases, holder: 'alone' },
  })
  await alone.start()
  await say(store, [{ stream: 'b-1', type: 'BoxPainted', data: { colour: 'red' } }])
  await eventually(async () => alone.state().some(({ state }) => state === 'stopped'))
  await say(store, [put('b-1', 'cup')])
  t.ok(await alone.waitForPosition(at(1), patience, ['things']))
  t.ok(alone.holds())
  await alone.stop()
})
