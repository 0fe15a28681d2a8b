import { randomUUID } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { projections, readModels } from '../../projections/all.ts'
import { opener } from '../../queries/opened.ts'
import { readHistory } from '../../queries/read-history.ts'
import { laterViewsOf } from '../../src/app/read-models.ts'
import { feedHistory } from '../../src/feeds/feed-history.ts'
import { feeds } from '../../src/feeds/feeds.ts'
import type { FeedBatch } from '../../src/feeds/item.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import { START } from '../../src/ports/event-store.ts'
import { projector } from '../../src/projector/projector.ts'
import { temporalQuery } from '../../src/projector/temporal-query.ts'
import { type BufferBudget, bufferBudget } from '../../src/support/buffer-budget.ts'
import { eventually } from '../support/eventually.ts'
import { opened as openedStores } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { metadata } from '../support/recorded.ts'

const item = (position: number) => ({ position: at(position), text: `${position}` })

t.test('a consumer that does not read is cut off, and holds nothing', async (t) => {
  let cut = 0
  const follower = subscriber(at(5), () => cut++, 100)
  follower.push([item(5), item(6)], 60)
  t.strictSame(
    (await follower.next()).value,
    { items: [item(6)] },
    'only what is behind its beginning',
  )
  follower.push([item(7)], 60)
  t.equal(cut, 0)
  follower.push([item(8)], 60)
  t.equal(cut, 1)
  follower.push([item(9)], 60)
  t.match(await follower.next(), { done: true })
  t.equal(cut, 1)
})

/** Feeds of an organization that can be renamed. */
const renaming = async (t: Test) => {
  const { store, views } = await openedStores(t)
  // A feed that waits for the next change keeps no process alive.
  const alive = setInterval(() => undefined, 1_000)
  t.teardown(() => clearInterval(alive))
  const projecting = projector({ store, views, projections })
  const { eventIndex } = await laterViewsOf(views)
  await projecting.start()
  const history = readHistory({ store, eventIndex, indexed: () => projecting.at('event_index') })
  const snapshots = { get: async () => undefined, put: async () => undefined }
  const model = readModels.get('organizations')
  if (!model) throw new Error('no organizations')
  let replays = 0
  const states = temporalQuery({ readHistory: history, snapshots, version: 1 })
  const opened = opener(async () => undefined).document
  const { follow, admit, close } = feeds({
    store,
    views,
    at: projecting.at,
    waitForPosition: projecting.waitForPosition,
    history: feedHistory({
      read: store.read,
      readHistory: history,
      stateAt: (...args) => {
        replays++
        return states(...args)
      },
      opened,
    }),
    head: store.head,
    end: store.end,
    opened,
    buffers: bufferBudget(Number.POSITIVE_INFINITY),
  })
  const data = { name: 'First', ownerUserId: 'u', orchestratorAgentId: 'a' }
  const created = { id: randomUUID(), type: 'OrganizationCreated', data, metadata }
  const { position } = await store.append('organization-org-1_org-1', -1, [created])
  await projecting.waitForPosition(position, 5_000)
  return {
    model,
    follow,
    admit,
    replays: () => replays,
    async rename(name: string) {
      const event = { id: randomUUID(), type: 'OrganizationRenamed', data: { name }, metadata }
      await store.append('organization-org-1_org-1', 'any', [event])
    },
    async close() {
      close()
      await projecting.stop()
    },
  }
}

const namesIn = ({ items }: FeedBatch): string[] =>
  items.map(({ text }) => JSON.parse(text).document.name)

t.test('a thousand follow one feed, and see the same', async (t) => {
  const { model, follow, rename, replays, close } = await renaming(t)
  const followed = async () => {
    const request = { organizationId: 'org-1', model, after: undefined, snapshot: true }
    const names: string[] = []
    const controller = new AbortController()
    for await (const batch of follow(request, controller.signal, () => t.fail('cut'))) {
      names.push(...namesIn(batch))
      if (names.at(-1) === 'Last') return names
    }
    return names
  }
  const all = Promise.all(Array.from({ length: 1_000 }, followed))
  for (const name of ['Second', 'Third', 'Last']) await rename(name)
  for (const names of await all) {
    if (names[0] !== 'First' || names.at(-1) !== 'Last') t.fail(names.join())
  }
  t.ok(replays() <= 3, `${replays()} replays for a thousand`)
  await close()
})

t.test('feeds that begin one after another hold the same items of a change', async (t) => {
  const { model, follow, close } = await renaming(t)
  const request = { organizationId: 'org-1', model, after: START, snapshot: true }
  const firstItems = async () => {
    const controller = new AbortController()
    for await (const { items } of follow(request, controller.signal, () => t.fail('cut')))
      if (items.length > 0) return items
    return undefined
  }
  const items = await firstItems()
  t.equal(items?.length, 1)
  t.equal(await firstItems(), items)
  await close()
})

t.test('a thousand join, and are told, a few at a time', async (t) => {
  const { model, follow, admit, rename, close } = await renaming(t)
  let inTurn = 0
  let most = 0
  let next = setImmediate(function look() {
    most = Math.max(most, inTurn)
    inTurn = 0
    next = setImmediate(look)
  })
  t.teardown(() => clearImmediate(next))
  const request = { organizationId: 'org-1', model, after: undefined, snapshot: false }
  let startCount = 0
  const followed = async () => {
    const controller = new AbortController()
    let writes = 0
    await admit()
    for await (const batch of follow(request, controller.signal, () => t.fail('cut'))) {
      inTurn++
      if (writes++ === 0) startCount++
      if (namesIn(batch).includes('Last')) break
    }
    return writes
  }
  const all = Promise.all(Array.from({ length: 1_000 }, followed))
  await eventually(async () => startCount === 1_000)
  await rename('Last')
  t.ok(
    (await all).every((writes) => writes === 2),
    'where it begins, and the change',
  )
  t.ok(most <= 8, `${most} written to in one turn of the event loop`)
  await close()
})

t.test('changes are written while the next is waited for', async (t) => {
  const { model, follow, rename, close } = await renaming(t)
  const request = { organizationId: 'org-1', model, after: undefined, snapshot: true }
  const early = follow(request, new AbortController().signal, () => t.fail('cut'))
  const late = follow(request, new AbortController().signal, () => t.fail('cut'))
  const names: string[] = []
  const write = (batch: FeedBatch) => {
    names.push(...namesIn(batch))
    return true
  }
  early.pushes(write)
  for (const feed of [early, late])
    t.strictSame(namesIn((await feed.next()).value ?? { items: [] }), ['First'])
  const pending = [early.next(), late.next()]
  await rename('Second')
  t.strictSame(namesIn((await pending[1])?.value ?? { items: [] }), ['Second'])
  pending[1] = late.next()
  late.pushes(write)
  await rename('Third')
  await eventually(async () => names.length === 3)
  t.strictSame(names, ['Second', 'Third', 'Third'])
  await close()
  for (const result of pending)
    t.match(await result, { done: true }, 'it was waited for all the time')
})

t.test('a follower that loses its right, or leaves, is told nothing more', async (t) => {
  const { model, follow, rename, close } = await renaming(t)
  const request = { organizationId: 'org-1', model, after: undefined, snapshot: true }
  const lost = new AbortController()
  const [losing, leaving, staying] = [lost, new AbortController(), new AbortController()].map(
    ({ signal }) => follow(request, signal, () => t.fail('cut')),
  )
  for (const feed of [losing, leaving, staying])
    t.strictSame(namesIn((await feed?.next())?.value ?? { items: [] }), ['First'])
  const last = [losing, leaving, staying].map((feed) => feed?.next())
  await rename('Second')
  for (const result of last)
    t.strictSame(namesIn((await result)?.value ?? { items: [] }), ['Second'])
  const pending = [losing, leaving].map((feed) => feed?.next())
  lost.abort()
  await leaving?.return()
  await rename('Third')
  t.strictSame(namesIn((await staying?.next())?.value ?? { items: [] }), ['Third'])
  for (const result of pending) t.match(await result, { done: true })
  t.match(await losing?.next(), { done: true })
  await close()
  t.match(await staying?.next(), { done: true }, 'nor is anyone at the end')
})

async function* nothing(): AsyncGenerator<never> {
  yield* []
}

/** A feed whose batches, each of so many characters, are made when `give` is called. */
const givenFeeds = (t: Test, buffers: BufferBudget) => {
  const model = readModels.get('organizations')
  if (!model) throw new Error('no organizations')
  let now = 0
  const feed = (characters: number) => {
    const waiting: (() => void)[] = []
    const cuts: number[] = []
    const { upToNow } = feeds({
      store: { feed: nothing, read: nothing, distance: () => ({ amount: 0, unit: 'events' }) },
      views: { load: async () => new Map() },
      at: () => at(9),
      waitForPosition: async () => true,
      history: {
        async *snapshot() {
          for (;;) {
            await new Promise<void>((resolve) => waiting.push(resolve))
            yield { items: [{ position: at(9), text: 'x'.repeat(characters) }], partial: true }
          }
        },
        touched: nothing,
      },
      head: async () => at(9),
      end: async () => at(9),
      opened: async (_, document) => document,
      buffers,
      monotonic: () => now,
    })
    const request = { organizationId: 'org-1', model, after: undefined, snapshot: true }
    const batches = upToNow(request, () => cuts.push(now))
    t.teardown(() => batches.return(undefined))
    return {
      cuts,
      next: () => batches.next(),
      async give() {
        await eventually(async () => waiting.length > 0)
        waiting.shift()?.()
      },
    }
  }
  return {
    feed,
    pass(ms: number) {
      now += ms
    },
  }
}

t.test(
  'items count until the next are there, their frames until these are requested',
  async (t) => {
    const buffers = bufferBudget(Number.POSITIVE_INFINITY)
    const { feed } = givenFeeds(t, buffers)
    const { next, give, cuts } = feed(100_000)
    const first = next()
    await give()
    await first
    const held = buffers.held()
    t.ok(held >= 500_000, `${held} bytes`)
    const second = next()
    await turn()
    t.equal(buffers.held(), held - 300_000)
    await give()
    await second
    t.equal(buffers.held(), held)
    t.strictSame(cuts, [])
  },
)

t.test('over the budget a feed that is read goes on, and one that is not is cut', async (t) => {
  const { feed, pass } = givenFeeds(t, bufferBudget(1_300_000))
  const [read, unread] = [feed(100_000), feed(100_000)]
  for (const { next, give } of [read, unread]) {
    const batch = next()
    await give()
    await batch
  }
  pass(2_000)
  const more = feed(100_000)
  const [again, other] = [read.next(), more.next()]
  await more.give()
  await other
  await read.give()
  t.match(await again, { done: false })
  t.strictSame([read.cuts, unread.cuts, more.cuts], [[], [2_000], []])
})
