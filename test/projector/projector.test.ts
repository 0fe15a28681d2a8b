import fc from 'fast-check'
import t from 'tap'
import type { AnyProjection } from '../../projections/projection.ts'
import { type EventStore, StoreDamaged, StoreUnavailable } from '../../src/ports/event-store.ts'
import type { Views } from '../../src/ports/views.ts'
import { projector } from '../../src/projector/projector.ts'
import { deferred } from '../../src/support/deferred.ts'
import { boxHistory, put, say } from '../support/box-history.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { batchOf, call } from '../support/recorded.ts'
import { asStraight } from '../support/sequential-feed.ts'
import { boxEvents, boxes, tallies, things, toys } from '../support/toys.ts'

const patience = 10_000

/** The same store, its feed cut into batches of these sizes, over and over. */
const cut = (store: EventStore, sizes: readonly number[]): EventStore => ({
  ...store,
  async *feed(after, signal) {
    let n = 0
    for await (const batch of store.feed(after, signal))
      for (let from = 0; from < batch.events.length; ) {
        const to = from + (sizes[n++ % sizes.length] ?? 1)
        const events = batch.events.slice(from, to)
        yield to < batch.events.length ? batchOf(events) : { ...batch, events }
        from = to
      }
  },
})

/** Views whose owner dies at its nth commit: before it is stored, or just after. */
const dying = (views: Views, commits: number, stores: boolean) => {
  const died = deferred<void>()
  let left = commits
  const commit: Views['commit'] = async (...given) => {
    if (left-- > 0) return views.commit(...given)
    if (left === -1 && stores) await views.commit(...given)
    died.resolve()
    throw new StoreUnavailable('the process is dead')
  }
  return { views: { ...views, commit }, died: died.promise }
}

t.test('whatever crashes, every event counts once', async (t) => {
  const death = fc.record({ commits: fc.nat(6), stores: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(
      boxHistory,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 }),
      fc.array(death, { maxLength: 4 }),
      async (history, sizes, deaths) => {
        const { store, views, close } = await opened(t)
        await say(store, history)
        const head = await store.head()
        for (const { commits, stores } of deaths) {
          const mortal = dying(views, commits, stores)
          const doomed = projector({
            store: cut(store, sizes),
            views: mortal.views,
            projections: toys,
          })
          await doomed.start()
          await Promise.race([mortal.died, doomed.waitForPosition(head, patience)])
          await doomed.stop()
        }
        const last = projector({ store: cut(store, sizes), views, projections: toys })
        await last.start()
        t.ok(await last.waitForPosition(head, patience))
        await last.stop()
        await asStraight(t, store, views, toys)
        await close()
      },
    ),
    { numRuns: 60 },
  )
})

t.test('a restart folds nothing again', async (t) => {
  const { store, views } = await opened(t)
  await say(store, [put('b-1', 'cup'), put('b-1', 'hat')])
  const seen: number[] = []
  const watched: typeof things = {
    ...things,
    id: (event) => {
      seen.push(event.position)
      return things.id(event)
    },
  }
  for (let life = 0; life < 3; life++) {
    const instance = projector({ store, views, projections: [watched] })
    await instance.start()
    t.ok(await instance.waitForPosition(await store.head(), patience))
    await instance.stop()
  }
  t.strictSame(seen, [0, 1])
})

t.test(
  'a projection that was added later catches up, and the others fold nothing again',
  async (t) => {
    const { store, views } = await opened(t)
    for (const projections of [[boxes], [boxes, tallies], toys]) {
      await say(store, [
        { stream: 'b-1', type: 'BoxOpened', data: { owner: 'ann' } },
        put('b-1', 'cup'),
        put('b-2', 'cup'),
      ])
      const instance = projector({ store, views, projections })
      await instance.start()
      t.ok(await instance.waitForPosition(await store.head(), patience))
      await instance.stop()
      await asStraight(t, store, views, projections)
    }
  },
)

t.test('a projection that cannot go on stops alone and goes on once it can', async (t) => {
  const { store, views } = await opened(t)
  const { BoxPainted: _, ...fewer } = boxEvents
  const narrow: AnyProjection = { ...boxes, name: 'narrow', events: fewer }
  const clumsy: AnyProjection = {
    ...tallies,
    name: 'clumsy',
    changes: {
      ...tallies.changes,
      ThingPut: () => {
        throw new Error('dropped it')
      },
    },
  }
  const errors: unknown[] = []
  const log = { info() {}, warn() {}, error: (fields: object) => void errors.push(fields) }
  const instance = projector({ store, views, projections: [narrow, clumsy, ...toys], log })
  await instance.start()
  await say(store, [
    put('b-1', 'cup'),
    { stream: 'b-1', type: 'BoxPainted', data: { colour: 'red' } },
  ])
  await say(store, [put('b-1', 'hat')])
  t.ok(
    await instance.waitForPosition(await store.head(), patience),
    'nobody waits for those that stopped',
  )
  t.match(instance.state(), [
    { name: 'narrow', state: 'stopped', position: 0, error: { name: 'UnknownEvent' } },
    { name: 'clumsy', state: 'stopped', position: 1, error: { message: 'dropped it' } },
    { name: 'boxes', state: 'running', position: 2 },
    { name: 'things', state: 'running', position: 2 },
    { name: 'tallies', state: 'running', position: 2 },
  ])
  t.match(errors, [
    { projection: 'narrow', reqId: call.requestId },
    { projection: 'clumsy', reqId: call.requestId },
  ])
  t.equal(instance.checkpoint(), 2)
  t.strictSame(await instance.lag(), { amount: 0, unit: 'events' })
  await instance.stop()
  t.equal(await views.checkpoint('narrow'), 0)
  t.equal(await views.checkpoint('clumsy'), 1)
  await asStraight(t, store, views, toys)

  const healed = [
    { ...boxes, name: 'narrow' },
    { ...tallies, name: 'clumsy' },
  ]
  const two = projector({ store, views, projections: [...healed, ...toys] })
  await two.start()
  t.ok(await two.waitForPosition(await store.head(), patience))
  await two.stop()
  await asStraight(t, store, views, [...healed, ...toys])
})

t.test('while the views are out of reach nothing is lost', async (t) => {
  const { store, views } = await opened(t)
  let refusals = 3
  const unsteady: Views = {
    ...views,
    async commit(...given) {
      if (refusals-- > 0) throw new StoreUnavailable('not now')
      return views.commit(...given)
    },
    async load(...given) {
      if (refusals-- > 0) throw new StoreUnavailable('not now')
      return views.load(...given)
    },
  }
  const instance = projector({ store, views: unsteady, projections: toys })
  await instance.start()
  await say(store, [put('b-1', 'cup'), put('b-1', 'cup')])
  t.ok(await instance.waitForPosition(await store.head(), patience))
  t.ok(refusals < 0)
  await instance.stop()
  await asStraight(t, store, views, toys)
})

t.test('views that are ahead of their log are not trusted', async (t) => {
  const { store, views } = await opened(t)
  await views.view(things)
  await views.commit([{ view: 'things', changes: [], position: at(7) }])
  const instance = projector({ store, views, projections: toys })
  await instance.start()
  await say(store, [put('b-1', 'cup')])
  t.ok(await instance.waitForPosition(at(0), patience))
  t.match(instance.state()[1], { name: 'things', state: 'stopped', error: { name: 'ViewAhead' } })
  await instance.rebuild('things')
  await say(store, [put('b-1', 'cup')])
  t.ok(await instance.waitForPosition(at(1), patience, ['things']))
  await instance.stop()
  await asStraight(t, store, views, toys)
})

t.test('what cannot be stored or loaded for one projection stops that one', async (t) => {
  const { store, views } = await opened(t)
  const picky: Views = {
    ...views,
    async load(view, ...given) {
      if (view === 'things') throw new StoreDamaged('not what was written')
      return views.load(view, ...given)
    },
    async commit(commits, ...given) {
      if (commits.some(({ view }) => view === 'boxes')) throw new StoreDamaged('no')
      return views.commit(commits, ...given)
    },
  }
  const instance = projector({ store, views: picky, projections: toys })
  await instance.start()
  await say(store, [put('b-1', 'cup')])
  t.ok(await instance.waitForPosition(at(0), patience))
  t.match(instance.state(), [
    { name: 'boxes', state: 'stopped', position: -1, error: { name: 'StoreDamaged' } },
    { name: 'things', state: 'stopped', position: -1, error: { name: 'StoreDamaged' } },
    { name: 'tallies', state: 'running', position: 0 },
  ])
  await instance.stop()
  await asStraight(t, store, views, [tallies])
})

t.test('changes tell what became of documents', async (t) => {
  const { store, views } = await opened(t)
  const instance = projector({ store, views, projections: [things] })
  const seen: unknown[] = []
  instance.changes.subscribe((batch) => {
    for (const { view, changes, position } of batch)
      if (changes.length > 0) seen.push({ view, changes, position })
  })
  await instance.start()
  await say(store, [put('b-1', 'cup')])
  await instance.waitForPosition(at(0), patience)
  await say(store, [{ stream: 'b-1', type: 'ThingTaken', data: { thing: 'cup' } }])
  await instance.waitForPosition(at(1), patience)
  await instance.stop()
  t.strictSame(seen, [
    {
      view: 'things',
      changes: [{ id: 'cup', document: { thing: 'cup', place: { box: 'b-1' }, put: 1 } }],
      position: 0,
    },
    { view: 'things', changes: [{ id: 'cup', document: undefined }], position: 1 },
  ])
})

t.test('changes tell that a read model was made anew', async (t) => {
  const { store, views } = await opened(t)
  const instance = projector({ store, views, projections: [things] })
  await instance.start()
  await say(store, [put('b-1', 'cup')])
  await instance.waitForPosition(at(0), patience)
  const seen: unknown[] = []
  instance.changes.subscribe((batch) => seen.push(...batch.filter(({ anew }) => anew)))
  await instance.rebuild('things')
  await instance.stop()
  t.strictSame(seen, [{ view: 'things', changes: [], position: at(0), anew: true }])
})

t.test('checkpoints move over what others wrote to the same store', async (t) => {
  const { store, views } = await opened(t)
  await say(store, [put('b-1', 'a')])
  const further = at(1_000)
  const shared: EventStore = {
    ...store,
    end: async () => further,
    async *feed(after, signal) {
      for await (const batch of store.feed(after, signal)) {
        yield batch
        yield { events: [], position: further }
      }
    },
  }
  const projecting = projector({ store: shared, views, projections: toys })
  await projecting.start()
  t.ok(await projecting.waitForPosition(further, patience))
  await projecting.stop()
  for (const { name } of toys) t.equal(await views.checkpoint(name), further)

  const again = projector({ store: shared, views, projections: toys })
  await again.start()
  t.ok(await again.waitForPosition(further, patience))
  t.match(
    again.state(),
    toys.map(({ name }) => ({ name, state: 'running', position: further })),
    'and are trusted after a restart',
  )
  await again.stop()
})

t.test('a projector does not begin where a view cannot be opened', async (t) => {
  const { store, views } = await opened(t)
  await say(store, [put('b-1', 'cup')])
  let commits = 0
  const closed: Views = {
    ...views,
    view: (spec) =>
      spec.name === things.name
        ? Promise.reject(new StoreUnavailable('it cannot be opened'))
        : views.view(spec),
    commit: async (...given) => {
      commits++
      return views.commit(...given)
    },
  }
  const projecting = projector({ store, views: closed, projections: [boxes, things, tallies] })
  await t.rejects(projecting.start(), { name: 'StoreUnavailable' })
  await new Promise(setImmediate)
  t.equal(commits, 0, 'nothing is folded')
  await projecting.stop()
})
