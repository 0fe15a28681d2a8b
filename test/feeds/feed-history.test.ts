import t from 'tap'
import { feedHistory, type SnapshotRequest } from '../../src/feeds/feed-history.ts'
import { at } from '../support/positions.ts'

const organizationId = 'org-1'
const request: SnapshotRequest = { organizationId, model: 'agents', position: at(9), follows: true }
const count = 20

async function* nothing(): AsyncGenerator<never> {
  yield* []
}

/** Snapshots of large documents. */
const largeSnapshots = (characters = 100_000) => {
  const text = 'x'.repeat(characters)
  const documents = new Map(
    Array.from({ length: count }, (_, n) => [`${n}`, { organization_id: organizationId, text }]),
  )
  const counts = { states: 0, opened: 0, opening: 0, mostOpening: 0 }
  const history = feedHistory({
    read: nothing,
    readHistory: nothing,
    async stateAt() {
      counts.states++
      return { documents, position: at(9), setAside: [] }
    },
    async opened(_, document) {
      counts.opened++
      counts.opening++
      counts.mostOpening = Math.max(counts.mostOpening, counts.opening)
      await undefined
      counts.opening--
      return document
    },
    now: () => 0,
  })
  const follow = () => history.snapshot(request)[Symbol.asyncIterator]()
  return { follow, counts }
}

t.test('a hundred feeds of one snapshot open each document once or twice', async (t) => {
  const { follow, counts } = largeSnapshots()
  const feeds = Array.from({ length: 100 }, follow)
  const positions: unknown[] = []
  for (let n = 0; n < count; n++) {
    const results = await Promise.all(feeds.map((feed) => feed.next()))
    if (n === 0) t.ok(counts.opened <= 4, `${counts.opened} opened for the first part`)
    positions.push(results[0]?.value?.reached)
  }
  t.strictSame(
    positions,
    [...Array(count - 1).fill(undefined), at(9)],
    'the last part has its position',
  )
  t.ok(counts.opened <= 2 * (count + 1), `${counts.opened} opened`)
  t.ok(counts.mostOpening <= 2, `${counts.mostOpening} at a time`)
  t.equal(counts.states, 1)
  for (const feed of feeds) t.match(await feed.next(), { done: true })
})

t.test(
  'a feed that leaves its snapshot, before or after its begin, is given nothing',
  async (t) => {
    const { follow, counts } = largeSnapshots()
    const [early, late] = [follow(), follow()]
    await early.return?.()
    t.match(await early.next(), { done: true })
    t.equal(counts.states, 0)
    await late.next()
    await late.return?.()
    t.match(await late.next(), { done: true })
  },
)

t.test('small documents of a snapshot come together, an empty one as its position', async (t) => {
  const { follow } = largeSnapshots(10)
  const feed = follow()
  const lengths: number[] = []
  for (let result = await feed.next(); !result.done; result = await feed.next())
    lengths.push(result.value.items.length)
  t.strictSame(lengths, [count])
})
