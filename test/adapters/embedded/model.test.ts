import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { type NewEvent, RevisionConflict, START } from '../../../src/ports/event-store.ts'
import { batchEvents, gathered, noted } from '../../support/noted.ts'
import { at } from '../../support/positions.ts'

const step = fc.record({
  stream: fc.constantFrom('a', 'b', 'b-', 'é'),
  /** How far the expectation is from the truth; most are right. */
  off: fc.constantFrom(0, 0, 0, 0, -1, 1, 'any' as const),
  data: fc.array(fc.jsonValue(), { minLength: 1, maxLength: 4 }),
  restart: fc.constantFrom(false, false, false, false, true),
})

const throughJson = (events: readonly object[]): unknown => JSON.parse(JSON.stringify(events))

t.test('the log behaves as a plain array would', async (t) => {
  let run = 0
  const root = t.testdir()
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const path = join(root, `${run++}`)
      let store = embeddedEventStore(await openLog({ path }))
      const model: (NewEvent & { stream: string; revision: number; position: number })[] = []
      const of = (stream: string) => model.filter((event) => event.stream === stream)
      for (const { stream, off, data, restart } of steps) {
        if (restart) {
          await store.close()
          store = embeddedEventStore(await openLog({ path }))
        }
        const last = of(stream).length - 1
        const expected = off === 'any' ? off : Math.max(START, last + off)
        const events = data.map((value) => noted('', { data: value }))
        const append = store.append(stream, expected, events)
        if (expected !== 'any' && expected !== last) {
          await t.rejects(append, RevisionConflict)
          continue
        }
        const first = { revision: last + 1, position: model.length }
        for (const [n, event] of events.entries())
          model.push({
            ...event,
            stream,
            revision: first.revision + n,
            position: first.position + n,
          })
        t.strictSame(await append, {
          revision: last + events.length,
          position: model.length - 1,
        })
        t.strictSame(await store.append(stream, 'any', events), await append)
      }
      t.strictSame(await gathered(store.history(START)), throughJson(model))
      const from = Math.floor(model.length / 2)
      t.strictSame(await gathered(store.history(at(from))), throughJson(model.slice(from + 1)))
      for (const stream of ['a', 'b', 'b-', 'é']) {
        t.strictSame(await gathered(store.read(stream)), throughJson(of(stream)))
        t.strictSame(await gathered(store.read(stream, 2)), throughJson(of(stream).slice(2)))
      }
      await store.close()
    }),
    { numRuns: 40, seed: 20260101 },
  )
})

t.test('names that cannot be keys are refused', async (t) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  const store = embeddedEventStore(log)
  t.teardown(() => store.close())
  for (const name of ['', 'a\0b', 'a\ud800', 'x'.repeat(1_001)])
    await t.rejects(store.append(name, START, [noted('x')]), TypeError)
  await store.append('x'.repeat(1_000), START, [noted('x')])
  t.equal((await gathered(store.read('x'.repeat(1_000)))).length, 1)
})

t.test('a closed log says so', async (t) => {
  const log = await openLog({ path: join(t.testdir(), 'log') })
  const store = embeddedEventStore(log)
  const last = store.append('note-1', START, [noted('x')])
  await store.close()
  t.equal((await last).position, 0, 'what was under way is stored')
  await t.rejects(store.append('note-1', 0, [noted('y')]), { name: 'StoreUnavailable' })
  await t.rejects(gathered(store.read('note-1')), { name: 'StoreUnavailable' })
  t.strictSame(await gathered(batchEvents(store.feed(START))), [])
})
