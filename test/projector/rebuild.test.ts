import fc from 'fast-check'
import t, { type Test } from 'tap'
import { START } from '../../src/ports/event-store.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import { projector } from '../../src/projector/projector.ts'
import { rebuild, rebuildTogether } from '../../src/projector/rebuild.ts'
import { replay } from '../../src/projector/replay.ts'
import { boxHistory, put, say } from '../support/box-history.ts'
import { gathered } from '../support/noted.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { asStraight, foldedOneByOne } from '../support/sequential-feed.ts'
import { boxes, tallies, things, toys } from '../support/toys.ts'

const patience = 10_000

t.test('rebuilt while events keep coming, a view loses none and counts none twice', async (t) => {
  await fc.assert(
    fc.asyncProperty(boxHistory, boxHistory, boxHistory, async (before, during, after) => {
      const { store, views, close } = await opened(t)
      const instance = projector({ store, views, projections: toys })
      await instance.start()
      await say(store, before)
      const writing = say(store, during)
      await Promise.all([
        instance.rebuild('boxes'),
        instance.rebuild('tallies'),
        instance.rebuild('things'),
      ])
      await writing
      await say(store, after)
      t.ok(await instance.waitForPosition(await store.head(), patience))
      await instance.stop()
      await asStraight(t, store, views, toys)
      await close()
    }),
    { numRuns: 40 },
  )
})

t.test('a rebuild tells how far it is, and queries are answered meanwhile', async (t) => {
  const { store, views } = await opened(t)
  const instance = projector({ store, views, projections: [things] })
  await instance.start()
  await say(store, [put('b-1', 'cup'), put('b-1', 'hat')])
  await instance.waitForPosition(at(1), patience)
  const view = await views.view<{ put: number }>(things)
  const answers: Promise<{ put: number } | undefined>[] = []
  const steps: unknown[] = []
  await instance.rebuild('things', (step) => {
    steps.push(step)
    answers.push(view.get('cup'))
  })
  t.strictSame(steps, [{ events: 2, percent: 100 }])
  t.match(await Promise.all(answers), [{ put: 1 }])
  await instance.stop()
})

t.test('a rebuild goes in small steps, and others run between them', async (t) => {
  const { store, views } = await opened(t)
  const instance = projector({ store, views, projections: [things] })
  await instance.start()
  await say(
    store,
    Array.from({ length: 1_000 }, (_, n) => put('b-1', `thing ${n}`)),
  )
  await instance.waitForPosition(await store.head(), patience)
  let turns = 0
  let over = false
  const count = () => {
    turns++
    if (!over) setImmediate(count)
  }
  setImmediate(count)
  const steps: unknown[] = []
  const turnsAt: number[] = []
  await instance.rebuild('things', (step) => {
    steps.push(step)
    turnsAt.push(turns)
  })
  over = true
  t.strictSame(
    steps,
    Array.from({ length: 10 }, (_, n) => ({
      events: 100 * (n + 1),
      percent: Math.floor((1 - (900 - 100 * n) / 1_000) * 100),
    })),
  )
  t.equal(new Set(turnsAt).size, steps.length, 'each in a turn of its own')
  await instance.stop()
})

t.test('a rebuild that fails leaves the live view as it was', async (t) => {
  const { store, views } = await opened(t)
  const instance = projector({ store, views, projections: [things] })
  await instance.start()
  await say(store, [put('b-1', 'cup')])
  await instance.waitForPosition(at(0), patience)
  await say(store, [{ stream: 'b-1', type: 'ThingLost', data: { thing: 7 } }])
  await t.rejects(instance.rebuild('things'), { name: 'UnknownEvent' })
  await t.rejects(instance.rebuild('nothing'), { message: /no projection is called nothing/ })
  await instance.stop()
  await t.rejects(instance.rebuild('things'))
  t.equal(await views.checkpoint('things'), 0)
  t.match(await (await views.view(things)).get('cup'), { put: 1 })
})

t.test('with nothing else running, a changed projection is rebuilt and then goes on', async (t) => {
  const { store, views } = await opened(t)
  await say(store, [
    put('b-1', 'cup'),
    { stream: 'b-1', type: 'BoxOpened', data: { owner: 'ann' } },
  ])
  const instance = projector({ store, views, projections: [boxes, tallies] })
  await instance.start()
  t.ok(await instance.waitForPosition(at(1), patience))
  await instance.stop()
  const changed = { ...tallies, changes: {} }
  await views.view(changed)
  await rebuild({ store, views, projection: changed })
  t.equal(await views.checkpoint('tallies'), 1)
  const two = projector({ store, views, projections: [boxes, changed] })
  await two.start()
  await say(store, [put('b-1', 'hat')])
  t.ok(await two.waitForPosition(at(2), patience))
  await two.stop()
  await asStraight(t, store, views, [boxes, changed])
})

t.test('a replay may end anywhere and go on from there', async (t) => {
  const { store } = await opened(t)
  await fc.assert(
    fc.asyncProperty(
      boxHistory,
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (history, part) => {
        await say(store, history)
        const log = await gathered(store.history(START))
        const upTo = at(Math.floor(part * (log.length - 1)))
        for (const projection of toys) {
          const projectionStore = memoryProjectionStore(projection)
          const first = await replay({ store, projection, projectionStore, upTo })
          t.equal(first.position, upTo)
          const documents = () => Object.fromEntries([...projectionStore.documents].sort())
          t.strictSame(documents(), foldedOneByOne(projection, log.slice(0, upTo + 1)))
          await replay({ store, projection, projectionStore, after: upTo })
          t.strictSame(documents(), foldedOneByOne(projection, log))
        }
      },
    ),
    { numRuns: 10 },
  )
})

/** A read model whose document is not what the log comes to. */
const damaged = async (t: Test) => {
  const { store, views } = await opened(t)
  await say(store, [put('b-1', 'cup'), put('b-1', 'hat')])
  const view = await views.view<{ put: number }>(things)
  const document = { thing: 'cup', place: { box: 'b-7' }, put: 7 }
  const position = await store.head()
  await views.commit([{ view: 'things', changes: [{ id: 'cup', document }], position }])
  const stopping = new AbortController()
  const { signal } = stopping
  return { store, views, view, signal, abort: () => stopping.abort(new Error('stop')) }
}

t.test('a rebuild that is aborted after its last event leaves the live view', async (t) => {
  const { abort, view, ...given } = await damaged(t)
  const rebuilding = rebuild({ ...given, projection: things, progress: abort })
  await t.rejects(rebuilding, { message: 'stop' })
  t.match(await view.get('cup'), { put: 7 })
})

t.test('a rebuild in one pass that is aborted leaves the live views', async (t) => {
  const { abort, view, ...given } = await damaged(t)
  const rebuilding = rebuildTogether({ ...given, projections: [things], progress: abort })
  await t.rejects(rebuilding, { message: 'stop' })
  t.match(await view.get('cup'), { put: 7 })
})

t.test('a rebuild in one pass replaces a damaged document, and tells how far it is', async (t) => {
  const { view, store, views } = await damaged(t)
  await views.view(boxes)
  const steps: unknown[] = []
  const progress = (step: unknown) => steps.push(step)
  await rebuildTogether({ store, views, projections: [boxes, things], progress })
  t.match(await view.get('cup'), { put: 1 })
  t.strictSame(steps, [{ events: 2, percent: 100 }])
  t.equal(await views.checkpoint('things'), 1)
})

t.test('a projection that cannot go on does not keep others from being rebuilt', async (t) => {
  const { view, store, views } = await damaged(t)
  const failing = () => {
    throw new Error('no')
  }
  const broken = { ...tallies, creates: { ...tallies.creates, ThingPut: failing } }
  await views.view(broken)
  const rebuilding = rebuildTogether({ store, views, projections: [broken, things] })
  await t.rejects(rebuilding, { message: 'no' })
  t.match(await view.get('cup'), { put: 1 })
  t.equal(await views.checkpoint('tallies'), -1)
})
