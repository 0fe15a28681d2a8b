import t from 'tap'
import { leaseTime, unrenewedLeases } from '../../src/support/lease-time.ts'

const hour = 3_600_000

/** Both clocks, set by hand. */
const timing = () => {
  const at = { wall: 0, monotonic: 0 }
  return { at, clock: { now: () => new Date(at.wall), monotonic: () => at.monotonic } }
}

t.test('a lease counts by the clock that has advanced more', async (t) => {
  const { at, clock } = timing()
  const { moment, since } = leaseTime(clock)
  const then = moment()
  Object.assign(at, { wall: 100, monotonic: 100 })
  t.equal(since(then), 100)
  at.wall -= hour
  t.equal(since(then), 100, 'wall time was set back')
  at.wall = hour
  t.equal(since(then), hour, 'the machine was suspended')
})

t.test(
  'a lease expires if it is not renewed for its duration, whatever the store says',
  async (t) => {
    const { at, clock } = timing()
    const isUnrenewed = unrenewedLeases(clock)
    const lease = { holder: 'a', until: hour, ttlMs: 8_000 }
    t.equal(isUnrenewed('projector', lease), false, 'seen for the first time')
    at.monotonic = 7_999
    t.equal(isUnrenewed('projector', lease), false)
    at.monotonic = 8_000
    t.equal(isUnrenewed('projector', lease), true)
    t.equal(isUnrenewed('other', lease), false, 'each is looked at on its own')
  },
)

t.test('a renewed lease counts from when its renewal was seen', async (t) => {
  const { at, clock } = timing()
  const isUnrenewed = unrenewedLeases(clock)
  const lease = { holder: 'a', until: hour, ttlMs: 8_000 }
  isUnrenewed('projector', lease)
  at.monotonic = 30_000
  const renewed = { ...lease, until: hour + 1 }
  t.equal(isUnrenewed('projector', renewed), false)
  t.equal(isUnrenewed('projector', { ...renewed, holder: 'b' }), false, 'another one has it')
})

t.test('a step of the wall clock takes no lease from its holder', async (t) => {
  const { at, clock } = timing()
  const isUnrenewed = unrenewedLeases(clock)
  const lease = { holder: 'a', until: hour, ttlMs: 8_000 }
  isUnrenewed('projector', lease)
  Object.assign(at, { wall: hour, monotonic: 250 })
  t.equal(isUnrenewed('projector', lease), false)
})
