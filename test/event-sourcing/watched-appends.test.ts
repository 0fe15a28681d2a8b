import t from 'tap'
import { watchedAppends } from '../../src/event-sourcing/watched-appends.ts'
import { RevisionConflict, START, StoreUnavailable } from '../../src/ports/event-store.ts'

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`

t.test('remembers since when nothing could be appended, until something is', async (t) => {
  const { stored, failed, failingSince } = watchedAppends()
  stored()
  t.equal(failingSince(), undefined)
  for (const second of [2, 3, 4]) failed(new StoreUnavailable('the disk is full'), at(second))
  t.strictSame(failingSince(), new Date(at(2)), 'the first of them')
  failed(new RevisionConflict('note-1', START, 0), at(5))
  t.ok(failingSince(), 'a conflict stores nothing')
  stored()
  t.equal(failingSince(), undefined)
})
