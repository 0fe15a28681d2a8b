import { randomUUID } from 'node:crypto'
import t from 'tap'
import { projections, readModels } from '../../projections/all.ts'
import { opener } from '../../queries/opened.ts'
import { readHistory } from '../../queries/read-history.ts'
import { laterViewsOf } from '../../src/app/read-models.ts'
import { feedHistory } from '../../src/feeds/feed-history.ts'
import { feeds } from '../../src/feeds/feeds.ts'
import type { FeedBatch } from '../../src/feeds/item.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import { projector } from '../../src/projector/projector.ts'
import { temporalQuery } from '../../src/projector/temporal-query.ts'
import { opened as openedStores } from '../support/opened.ts'
import { at } from '../support/positions.ts'
import { metadata } from '../support/recorded.ts'

const item = (position: number) => ({ position: at(position), text: `${position}` })

t.test('a consumer that does not read is cut off, and holds nothing', async (t) => {
  let cut = 0
  const one = subscriber(at(5), () => cut++, 100)
  one.push([item(5), item(6)], 60)
  const reading = one.follow()
  t.strictSame((await reading.next()).value, [item(6)], 'only what is behind its beginning')
  one.push([item(7)], 60)
  t.equal(cut, 0)
  one.push([item(8)], 60)
  t.equal(cut, 1)
  one.push([item(9)], 60)
  t.match(await reading.next(), { done: true })
  t.equal(cut, 1)
})

t.test('a thousand follow one feed, and see the same', async (t) => {
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
  const opened = opener(() => undefined).document
  const { follow, close } = feeds({
    store,
    views,
    at: projecting.at,
    waitForPosition: projecting.waitForPosition,
    history: feedHistory({
      read: store.read,
      readHistory: history,
      stateAt: (...asked) => {
        replays++
        return states(...asked)
      },
      opened,
    }),
    head: store.head,
    end: store.end,
    opened,
  })
  const rename = async (name: string) => {
    const data = { name }
    const event = { id: randomUUID(), type: 'OrganizationRenamed', data, metadata }
    await store.append('organization-org-1_org-1', 'any', [event])
  }
  const data = { name: 'First', ownerUserId: 'u', orchestratorAgentId: 'a' }
  const created = { id: randomUUID(), type: 'OrganizationCreated', data, metadata }
  const { position } = await store.append('organization-org-1_org-1', -1, [created])
  await projecting.waitForPosition(position, 5_000)

  const followed = async () => {
    const asked = { organizationId: 'org-1', model, after: undefined, snapshot: true }
    const names: string[] = []
    const gone = new AbortController()
    const take = ({ items }: FeedBatch) => {
      for (const { text } of items) names.push(JSON.parse(text).document.name)
    }
    for await (const told of follow(asked, gone.signal, () => t.fail('cut'))) {
      take(told)
      if (names.at(-1) === 'Last') return names
    }
    return names
  }
  const all = Promise.all(Array.from({ length: 1_000 }, followed))
  for (const name of ['Second', 'Third', 'Last']) await rename(name)
  for (const names of await all) {
    if (names[0] !== 'First' || names.at(-1) !== 'Last') t.fail(names.join())
  }
  t.ok(replays <= 3, `${replays} replays for a thousand`)
  close()
  await projecting.stop()
})
