import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { logFollower } from '../../../src/adapters/embedded/log-follower.ts'
import { type RecordedEvent, START } from '../../../src/ports/event-store.ts'
import { metadata } from '../../support/recorded.ts'

const thingPut = (thing: string) => ({
  id: randomUUID(),
  type: 'ThingPut',
  data: { thing, weight: 1 },
  metadata,
})

const all = async (batches: AsyncIterable<readonly RecordedEvent[]>) => {
  const events: RecordedEvent[] = []
  for await (const batch of batches) events.push(...batch)
  return events
}

t.test('a follower reads what the store has, as far as it was told', async (t) => {
  const path = join(t.testdir(), 'log')
  const log = await openLog({ path })
  const store = embeddedEventStore(log, { gap: 3 })
  const keys = embeddedKeyStore(log)
  const append = (stream: string, things: number) => {
    const events = Array.from({ length: things }, (_, n) => thingPut(`${n}`))
    return store.append(stream, 'any', events)
  }
  for (let n = 0; n < 30; n++) await append(`b-${n % 7}`, 100)
  const head = await store.head()
  await keys.create('session:a', Buffer.from('wrapped'))
  await store.append('b-1', 'any', [thingPut('later')])

  const {
    events,
    keys: known,
    announce,
    close,
  } = logFollower({
    path,
    head,
    onDamage: (damage) => t.fail(JSON.stringify(damage)),
  })
  t.equal(await events.head(), head)
  const history = await all(store.history(START, head))
  t.strictSame(await all(events.history(START)), history)
  t.strictSame(await all(events.read('b-3')), await all(store.read('b-3')))
  const some = history.filter((_, n) => n % 300 === 1).map(({ position }) => position)
  const positions = async function* () {
    yield some
  }
  t.strictSame(await all(events.at(positions())), await all(store.at(positions())))
  t.equal(Buffer.from((await known.get('session:a')) ?? []).toString(), 'wrapped')
  t.equal(await known.get('session:b'), undefined)

  const ending = new AbortController()
  const feed = events.feed(head, ending.signal)[Symbol.asyncIterator]()
  const next = feed.next()
  announce(await store.head())
  t.match((await next).value, { events: [{ type: 'ThingPut', data: { thing: 'later' } }] })
  const last = feed.next()
  ending.abort()
  t.match(await last, { done: true })

  const writing = (async () => {
    for (let n = 0; n < 40; n++) await append(`c-${n}`, 3)
  })()
  for (let n = 0; n < 20; n++) {
    announce(await store.head())
    const count = (await all(events.history(START))).length
    t.equal(count, (await all(store.history(START, await events.head()))).length)
  }
  await writing
  await close()
  await store.close()
})
