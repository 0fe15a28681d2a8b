import fc from 'fast-check'
import t from 'tap'
import { findPosition } from '../../queries/find-position.ts'
import { START } from '../../src/ports/event-store.ts'
import { anyHistory, eventsOf } from '../support/any-history.ts'
import { eventIndexOf, heldLog, historyOn } from '../support/held-log.ts'

t.test('a time is the place of the last event by then', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: -100, max: 2_600 }),
      async (made, part, seconds) => {
        const log = eventsOf(made)
        const store = heldLog(log)
        const index = await eventIndexOf(store, Math.floor((log.at(-1)?.position ?? 0) * part))
        const readHistory = await historyOn(store, index.indexed())
        const time = Date.UTC(2026, 0, 1) + seconds * 1_000
        const find = findPosition({ readHistory, eventsAt: store.at, ...index })
        const own = log.filter(
          (event) =>
            event.metadata.organization_id === 'org-1' && Date.parse(event.metadata.at) <= time,
        )
        t.equal(await find('org-1', time), own.at(-1)?.position ?? START)
      },
    ),
    { numRuns: 150 },
  )
})
