import fc from 'fast-check'
import t from 'tap'
import { readModels } from '../../projections/all.ts'
import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../../src/domain/event.ts'
import type { RecordedEvent } from '../../src/ports/event-store.ts'
import type { Snapshot, Snapshots } from '../../src/ports/snapshots.ts'
import { temporalQuery } from '../../src/projector/temporal-query.ts'
import { anyHistory, recordedHistory } from '../support/any-history.ts'
import { heldLog, historyOn } from '../support/held-log.ts'
import { at } from '../support/positions.ts'
import { foldedOneByOne } from '../support/sequential-feed.ts'

const inMemory = (): Snapshots & { stored: Map<string, Snapshot> } => {
  const stored = new Map<string, Snapshot>()
  return {
    stored,
    get: async (name) => stored.get(name),
    put: async (name, snapshot) => {
      stored.set(name, structuredClone(snapshot))
    },
  }
}

/** In the plainest way: the log up to there, of that organization alone. */
const plainly = (projection: AnyProjection, log: readonly RecordedEvent[], upTo: Position) => {
  const own = log.filter(
    (event) => event.position <= upTo && event.metadata.organization_id === 'org-1',
  )
  return foldedOneByOne(projection, own)
}

t.test('a state is what the history comes to, whatever was kept of it before', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      anyHistory,
      fc.integer({ min: 1, max: 30 }),
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
      async (drafts, every, places) => {
        const log = recordedHistory(drafts)
        const store = heldLog(log)
        const readHistory = await historyOn(store)
        const snapshots = inMemory()
        const state = temporalQuery({ readHistory, snapshots, version: 1, every })
        const other = temporalQuery({ readHistory, snapshots, version: 2, every: every + 3 })
        const end = log.at(-1)?.position ?? 0
        for (const projection of readModels.values())
          for (const [n, place] of places.entries()) {
            const upTo = at(Math.floor(end * place))
            const query = n === 2 ? other : state
            const { documents } = await query('org-1', projection, upTo)
            t.strictSame(
              Object.fromEntries([...documents].sort()),
              plainly(projection, log, upTo),
              projection.name,
            )
          }
      },
    ),
    { numRuns: 40 },
  )
})

t.test('events before a snapshot are not folded again', async (t) => {
  const drafts = Array.from({ length: 400 }, () => ({
    kind: { category: 'session', type: 'SessionCreated' },
    organization: 1,
    stream: 1,
    gap: 1,
    seconds: 0,
  }))
  const log = recordedHistory(drafts)
  const store = heldLog(log)
  const readHistory = await historyOn(store)
  const snapshots = inMemory()
  const state = temporalQuery({ readHistory, snapshots, version: 1, every: 50 })
  const sessions = readModels.get('sessions')
  if (!sessions) throw new Error('no sessions')
  const first = await state('org-1', sessions, at(390))
  t.ok(snapshots.stored.size >= 7)
  store.log.read = 0
  t.strictSame(await state('org-1', sessions, at(390)), first)
  t.ok(store.log.read <= 50, `${store.log.read} events read again`)
  const few = temporalQuery({ readHistory, snapshots: inMemory(), version: 1, most: 0 })
  await t.rejects(few('org-1', sessions, at(390)), { code: 'state_too_large' })
  t.equal((await few('org-2', sessions, at(390))).documents.size, 0)
})
