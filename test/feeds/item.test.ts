import t from 'tap'
import { ending, itemsOf, sseBytes, sseOf } from '../../src/feeds/item.ts'
import { subscriber } from '../../src/feeds/subscriber.ts'
import type { Document } from '../../src/ports/views.ts'
import { at } from '../support/positions.ts'

const items = [6, 7].map((n) => ({ position: at(n), text: `{"n":${n},"text":"žluť"}` }))

t.test('what many are told is encoded once', async (t) => {
  const followers = Array.from({ length: 3 }, () => subscriber(at(5), () => t.fail('cut')))
  for (const one of followers) one.push(items, 40)
  const told = await Promise.all(followers.map((one) => one.next()))
  const bytes = told.map(({ value }) => sseBytes(value ?? { items: [] }))
  t.equal(bytes[0], bytes[1])
  t.equal(bytes[0], bytes[2])
  t.equal(`${bytes[0]}`, sseOf({ items }))
})

t.test('where a batch ends is told to each as it is', async (t) => {
  t.equal(`${sseBytes({ items, reached: at(9) })}`, sseOf({ items, reached: at(9) }))
  t.equal(`${sseBytes({ items, partial: true })}`, sseOf({ items, partial: true }))
  t.equal(`${sseBytes({ items: [], reached: at(9) })}`, 'id: 9\n\n')
  t.equal(sseBytes({ items: [] }).length, 0)
})

t.test('a part that is read ahead is told of as soon as it is loaded', async (t) => {
  async function* parts() {
    for (const item of items) yield [item]
  }
  const loaded: number[] = []
  const batches = ending(parts(), at(9), {}, (part) => loaded.push(part.length))
  t.strictSame((await batches.next()).value, { items: items.slice(0, 1) })
  t.strictSame(loaded, [1, 1])
})

t.test('what has waited together comes together', async (t) => {
  const one = subscriber(at(5), () => t.fail('cut'))
  for (const item of items) one.push([item], 20)
  t.strictSame((await one.next()).value, { items })
})

const sessions = {
  view: 'sessions',
  organizationId: 'org-1',
  shown: async (one: Document) => one,
}

t.test('changes that fit are told in one part, and no part ends within a position', async (t) => {
  const parts = async (positions: readonly number[], characters: number) => {
    const ids = new Map(positions.map((position, n) => [`${n}`, at(position)]))
    const document = { organization_id: 'org-1', text: 'x'.repeat(characters) }
    const load = async (_: string, names: readonly string[]) =>
      new Map(names.map((name) => [name, document]))
    const told: number[][] = []
    const items = itemsOf({ ...sessions, load }, ids)
    for await (const part of items) told.push(part.map(({ position }) => position))
    return told
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
    for await (const part of itemsOf({ ...sessions, load }, ids)) count += part.length
    t.equal(count, ids.size)
    return { most: Math.max(...sizes), all: sizes.reduce((sum, size) => sum + size, 0) }
  }
  const large = await loads(100_000)
  t.ok(large.most <= 2, `${large.most} at once`)
  t.ok(large.all <= 410, `${large.all} in all`)
  t.ok((await loads(10)).most >= 100)
})

t.test('each part is built in its own turn of the event loop', async (t) => {
  const ids = new Map(Array.from({ length: 10 }, (_, n) => [`${n}`, at(n)]))
  const document = { organization_id: 'org-1', text: 'x'.repeat(100_000) }
  let inTurn = false
  let turns = 0
  const turn = async <T>(work: () => Promise<T>): Promise<T> => {
    turns++
    inTurn = true
    const made = await work()
    inTurn = false
    return made
  }
  const load = async (_: string, names: readonly string[]) => {
    t.ok(inTurn)
    return new Map(names.map((name) => [name, document]))
  }
  for await (const _ of itemsOf({ ...sessions, load, turn }, ids)) t.notOk(inTurn)
  t.equal(turns, 10)
})
