import t from 'tap'
import { watchedAppends } from '../../src/event-sourcing/watched-appends.ts'
import { RevisionConflict, START, StoreUnavailable } from '../../src/ports/event-store.ts'
import { noted } from '../support/noted.ts'
import { opened } from '../support/opened.ts'
import { clockFrom } from '../support/ticking.ts'

t.test('remembers since when nothing could be appended, until something is', async (t) => {
  const { store } = await opened(t)
  let down = false
  const failing: typeof store = {
    ...store,
    append: async (...sent) => {
      if (down) throw new StoreUnavailable('the disk is full')
      return store.append(...sent)
    },
  }
  const clock = clockFrom('2026-01-01T00:00:00.000Z')
  const { store: watched, failingSince } = watchedAppends(failing, clock)
  const append = () => watched.append('note-1', 'any', [noted('a')])
  await append()
  t.equal(failingSince(), undefined)
  down = true
  for (let n = 0; n < 3; n++) await t.rejects(append(), StoreUnavailable)
  t.strictSame(failingSince(), new Date('2026-01-01T00:00:02.000Z'), 'the first of them')
  down = false
  await t.rejects(watched.append('note-1', START, [noted('b')]), RevisionConflict)
  t.ok(failingSince(), 'a conflict stores nothing')
  await append()
  t.equal(failingSince(), undefined)
})
