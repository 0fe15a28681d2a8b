import fc from 'fast-check'
import t from 'tap'
import {
  heldFor,
  isNone,
  noReservations,
  openRuns,
  type Reservations,
  released,
  reserved,
} from '../../../src/domain/account/reservations.ts'

const ids = Array.from({ length: 120 }, (_, n) => `run-${n}`).concat(
  'content:c-1:0',
  '',
  'toString',
)
const id = fc.constantFrom(...ids)
const most = Number.MAX_SAFE_INTEGER
const changesOf = (amount: fc.Arbitrary<number>) =>
  fc.array(fc.record({ runId: id, amount: fc.option(amount, { nil: undefined, freq: 8 }) }), {
    maxLength: 300,
    size: 'max',
  })

/** Some of them add up to more than is exact. */
const large = changesOf(fc.oneof(fc.nat(1_000), fc.integer({ min: 2 ** 52, max: most })))

t.test('reservations are as in a map, and their sum is known', async (t) => {
  fc.assert(
    fc.property(fc.oneof(changesOf(fc.nat(1_000)), large), (changes) => {
      const map = new Map<string, number>()
      let all: Reservations = noReservations
      for (const { runId, amount } of changes) {
        if (amount === undefined) map.delete(runId)
        else map.set(runId, amount)
        all = amount === undefined ? released(all, runId) : reserved(all, runId, amount)
      }
      const sum = [...map.values()].reduce((held, amount) => Math.min(most, held + amount), 0)
      return (
        all.held === sum &&
        isNone(all) === (map.size === 0) &&
        openRuns(all).toSorted().join() === [...map.keys()].toSorted().join() &&
        ids.every((runId) => heldFor(all, runId) === map.get(runId))
      )
    }),
  )
  t.pass()
})

t.test('a change copies one part of ten thousand', async (t) => {
  const many = Array.from({ length: 10_000 }, (_, n) => `run-${n}`)
  const all = many.reduce<Reservations>((sum, id) => reserved(sum, id, 1), noReservations)
  const more = reserved(all, 'another', 1)
  if (!('parts' in all && 'parts' in more)) return t.fail('they are not in parts')
  const copied = Object.entries(more.parts).filter(
    ([place, part]) => part !== all.parts[Number(place)],
  )
  t.equal(copied.length, 1)
  t.ok(Object.keys(copied[0]?.[1] ?? {}).length < 200, 'which is a small one')
  t.equal(all.held, 10_000)
  t.strictSame(
    many.reduce<Reservations>((sum, runId) => released(sum, runId), all),
    noReservations,
  )
})
