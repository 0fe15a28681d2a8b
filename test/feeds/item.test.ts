import t, { type Test } from 'tap'
import {
  changedBatches,
  type LoadedPart,
  lineBytes,
  sseBytes,
  sseOf,
} from '../../src/feeds/item.ts'
import { type PartLoads, partLoads } from '../../src/feeds/part-loads.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import type { Document } from '../../src/ports/views.ts'
import { at } from '../support/positions.ts'

const items = [6, 7].map((n) => ({ position: at(n), text: `{"n":${n},"text":"žluť"}` }))

t.test('items for many subscribers are encoded once', async (t) => {
  const followers = Array.from({ length: 3 }, () => subscriber(at(5), () => t.fail('cut')))
  for (const follower of followers) follower.push(items, 40)
  const results = await Promise.all(followers.map((follower) => follower.next()))
  const bytes = results.map(({ value }) => sseBytes(value ?? { items: [] }))
  t.equal(bytes[0], bytes[1])
  t.equal(bytes[0], bytes[2])
  t.equal(`${bytes[0]}`, sseOf({ items }))
  t.equal(lineBytes(items), lineBytes(items))
  const partial = { items, partial: true } as const
  t.equal(sseBytes({ ...partial }), sseBytes({ ...partial }))
  t.equal(`${lineBytes(items)}`, `${items.map(({ text }) => text).join('\n')}\n`)
})

t.test('where a batch ends is told to each as it is', async (t) => {
  t.equal(`${sseBytes({ items, reached: at(9) })}`, sseOf({ items, reached: at(9) }))
  t.equal(`${sseBytes({ items, partial: true })}`, sseOf({ items, partial: true }))
  t.equal(`${sseBytes({ items: [], reached: at(9) })}`, 'id: 9\n\n')
  t.equal(sseBytes({ items: [] }).length, 0)
})

t.test('items that waited together are delivered together', async (t) => {
  const follower = subscriber(at(5), () => t.fail('cut'))
  for (const item of items) follower.push([item], 20)
  t.strictSame((await follower.next()).value, { items })
})

const sessions = {
  view: 'sessions',
  organizationId: 'org-1',
  open: async (document: Document) => document,
}

t.test('changes that fit are told in one part, and no part ends within a position', async (t) => {
  const last: number[] = []
  const parts = async (positions: readonly number[], characters: number) => {
    const ids = new Map(positions.map((position, n) => [`${n}`, at(position)]))
    const document = { organization_id: 'org-1', text: 'x'.repeat(characters) }
    const load = async (_: string, names: readonly string[]) =>
      new Map(names.map((name) => [name, document]))
    const groups: number[][] = []
    const batches = changedBatches({ ...sessions, load }, ids, at(9))
    for await (const { items, reached } of batches) {
      if (reached !== undefined) last.push(reached)
      if (items.length > 0) groups.push(items.map(({ position }) => position))
    }
    return groups
  }
  t.strictSame(await parts([1, 2, 3, 3], 10), [[1, 2, 3, 3]])
  t.strictSame(await parts([1, 1, 2, 2, 2, 3], 40_000), [
    [1, 1],
    [2, 2, 2, 3],
  ])
  t.strictSame(await parts([5, 5, 5], 70_000), [[5, 5, 5]])
  t.strictSame(await parts([], 10), [])
  const many = Array.from({ length: 450 }, (_, n) => n)
  t.strictSame((await parts(many, 10)).flat(), many)
  t.strictSame(last, [9, 9, 9, 9, 9], 'each ends with its last batch')
})

t.test('loads one or two large documents at once, and many small ones', async (t) => {
  const loads = async (characters: number) => {
    const ids = new Map(Array.from({ length: 400 }, (_, n) => [`${n}`, at(n)]))
    const document = { organization_id: 'org-1', text: 'x'.repeat(characters) }
    const sizes: number[] = []
    const load = async (_: string, names: readonly string[]) => {
      sizes.push(names.length)
      return new Map(names.map((name) => [name, document]))
    }
    let count = 0
    for await (const { items } of changedBatches({ ...sessions, load }, ids, at(400)))
      count += items.length
    t.equal(count, ids.size)
    return { most: Math.max(...sizes), all: sizes.reduce((sum, size) => sum + size, 0) }
  }
  const large = await loads(100_000)
  t.ok(large.most <= 2, `${large.most} at once`)
  t.ok(large.all <= 410, `${large.all} in all`)
  t.ok((await loads(10)).most >= 100)
})

const largeDocuments = (t: Test) => {
  const ids = new Map(Array.from({ length: 10 }, (_, n) => [`${n}`, at(n)]))
  const document = { organization_id: 'org-1', text: 'x'.repeat(100_000) }
  const loads: string[][] = []
  const load = async (_: string, names: readonly string[]) => {
    loads.push([...names])
    return new Map(names.map((name) => [name, document]))
  }
  const batches = (parts?: PartLoads<LoadedPart>) =>
    changedBatches({ ...sessions, load, ...(parts ? { parts } : {}) }, ids, at(9))
  t.teardown(() => loads.splice(0))
  return { batches, loads, count: ids.size }
}

t.test('a part is loaded when it is asked for, and not before', async (t) => {
  const { batches, loads } = largeDocuments(t)
  const feed = batches()
  const { value } = await feed.next()
  t.match(value, { items: [{ position: 0 }], reached: undefined })
  t.strictSame(loads, [['0', '1']])
  await feed.next()
  t.strictSame(loads, [['0', '1'], ['1']])
})

t.test('each part is built in its own turn of the event loop', async (t) => {
  const { batches, loads, count } = largeDocuments(t)
  let inTurn = false
  let turns = 0
  const parts: PartLoads<LoadedPart> = async (_, __, load) => {
    turns++
    inTurn = true
    const before = loads.length
    const part = await load()
    t.ok(loads.length > before)
    inTurn = false
    return part
  }
  for await (const _ of batches(parts)) t.notOk(inTurn)
  t.equal(turns, count)
})

t.test('a hundred feeds at one place load each part once, and share its frames', async (t) => {
  const { batches, loads, count } = largeDocuments(t)
  const parts = partLoads<LoadedPart>()
  const feeds = Array.from({ length: 100 }, () => batches(parts))
  for (let n = 0; n < count; n++) {
    const results = await Promise.all(feeds.map((feed) => feed.next()))
    const frames = new Set(results.map(({ value }) => value && sseBytes(value)))
    t.equal(frames.size, 2, 'of the first who asked, and of all who waited for it')
  }
  t.ok(loads.length <= 2 * count, `${loads.length} loads for 100 feeds`)
})
