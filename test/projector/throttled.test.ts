import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { LogBatch } from '../../src/ports/event-store.ts'
import { START } from '../../src/ports/event-store.ts'
import { throttled } from '../../src/projector/throttled.ts'
import { put, say } from '../support/box-history.ts'
import { opened } from '../support/opened.ts'
import { at } from '../support/positions.ts'

/** Longer than any test. */
const never = 1_000_000

const following = (feed: AsyncIterable<LogBatch>) => {
  const batches: number[] = []
  const completion = (async () => {
    for await (const { events } of feed) batches.push(events.length)
  })()
  const some = async (count: number) => {
    while (batches.length < count) await setImmediate()
    return batches
  }
  return { batches, completion, some }
}

t.test('stored events are read at once, later events gather', async (t) => {
  const { store } = await opened(t)
  for (let n = 0; n < 1_200; n += 600)
    await say(
      store,
      Array.from({ length: 600 }, () => put('b-1', 'cup')),
    )
  const { store: slow, hurry } = throttled({ store, everyMs: never })
  const ending = new AbortController()
  const { batches, completion, some } = following(slow.feed(START, ending.signal))
  t.equal(
    (await some(2)).reduce((sum, count) => sum + count),
    1_200,
  )
  for (let n = 0; n < 5; n++) await say(store, [put('b-1', 'cup')])
  for (let n = 0; n < 20; n++) await setImmediate()
  t.equal(batches.length, 2, 'it rests')
  hurry(at(1_199))
  for (let n = 0; n < 20; n++) await setImmediate()
  t.equal(batches.length, 2, 'nobody waits for more than it has read')
  hurry(await store.head())
  t.equal((await some(3)).at(-1), 5, 'in one batch, as soon as somebody waits for it')
  ending.abort()
  await completion
})

t.test('without anybody who asks it goes on by itself', async (t) => {
  const { store } = await opened(t)
  await say(store, [put('b-1', 'cup')])
  const ending = new AbortController()
  const { store: slow } = throttled({ store, everyMs: 1 })
  const { completion, some } = following(slow.feed(START, ending.signal))
  await some(1)
  await say(store, [put('b-1', 'cup')])
  t.strictSame(await some(2), [1, 1])
  ending.abort()
  await completion
})
