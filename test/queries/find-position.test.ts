import fc from 'fast-check'
import t from 'tap'
import { findPosition } from '../../queries/find-position.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { anyHistory, eventsOf } from '../support/any-history.ts'
import { eventIndexOf, heldLog, historyOn } from '../support/held-log.ts'
import { anyTime, longHistory, placeIn } from '../support/long-history.ts'

const found = async (log: readonly RecordedEvent[], indexed: number, time: number) => {
  const store = heldLog(log)
  const index = await eventIndexOf(store, indexed)
  const readHistory = await historyOn(store, index.indexed())
  return findPosition({ readHistory, eventsAt: store.at, ...index })('org-1', time)
}

/** The same in the plainest way. */
const plainly = (log: readonly RecordedEvent[], time: number) =>
  log.findLast(
    ({ metadata }) => metadata.organization_id === 'org-1' && Date.parse(metadata.at) <= time,
  )?.position ?? START

t.test('a time is the place of the last event by then', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: -100, max: 2_600 }),
      async (made, part, seconds) => {
        const log = eventsOf(made)
        const time = Date.UTC(2026, 0, 1) + seconds * 1_000
        t.equal(await found(log, placeIn(log, part), time), plainly(log, time))
      },
    ),
    { numRuns: 150 },
  )
})

t.test('so in a history of many stretches', async (t) => {
  const part = fc.double({ min: 0, max: 1, noNaN: true })
  await fc.assert(
    fc.asyncProperty(longHistory, part, anyTime, async (log, indexed, time) => {
      t.equal(await found(log, placeIn(log, indexed), time), plainly(log, time))
    }),
    { numRuns: 150 },
  )
})
