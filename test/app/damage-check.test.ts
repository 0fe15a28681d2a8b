import t from 'tap'
import { damageCheck } from '../../src/app/damage-check.ts'
import type { Damage } from '../../src/ports/damage.ts'
import { at } from '../support/positions.ts'

const events = (from?: number, to?: number): Damage => ({
  store: 'events',
  what: '/data/log/data.mdb: page 7 is damaged',
  ...(from !== undefined && { from: at(from) }),
  ...(to !== undefined && { to: at(to) }),
})

t.test('a store without damage is ok', (t) => {
  t.strictSame(damageCheck([]), { ok: true })
  t.end()
})

t.test('places are named, files are not', (t) => {
  const { ok, detail } = damageCheck([
    events(3, 3),
    events(5, 9),
    events(12),
    events(undefined, 2),
    events(),
    { store: 'read_models', what: 'sessions' },
  ])
  t.equal(ok, false)
  t.equal(
    detail,
    'damaged: position 3, positions 5 to 9, positions 12 to the end, positions 0 to 2, the log of events, the read model sessions, which is folded again',
  )
  t.end()
})

t.test('only the first of many damaged places are named', (t) => {
  const { detail } = damageCheck(Array.from({ length: 500 }, (_, n) => events(n, n)))
  t.match(detail, /^damaged: position 0, .*position 19 and 480 more$/)
  t.end()
})
