import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { inSlices } from '../../src/feeds/slices.ts'

t.test(
  'a thousand are written to a few at a time, and other work has the loop in between',
  async (t) => {
    let time = 0
    let inTurn = 0
    let most = 0
    const rests: number[] = []
    const ownTurn = inSlices({
      now: () => time,
      turn: async () => {
        most = Math.max(most, inTurn)
        // Writing to them takes so long.
        time += inTurn * 0.04
        inTurn = 0
      },
      rest: async (ms) => {
        rests.push(ms)
        time += ms
      },
    })
    for (let n = 0; n < 1_000; n++) {
      await ownTurn()
      inTurn++
    }
    t.equal(most, 8)
    t.equal(rests.length, 31, 'one after each millisecond of writing')
    t.ok(rests.every((ms) => ms >= 3))
  },
)

t.test('where writing takes long, there is a rest after every turn', async (t) => {
  let time = 0
  let rests = 0
  const ownTurn = inSlices({
    now: () => time,
    turn: async () => {
      time += 20
    },
    rest: async () => {
      rests++
    },
  })
  for (let n = 0; n < 80; n++) await ownTurn()
  t.equal(rests, 9, 'all but the first eight')
})

t.test(
  'those who come from many sides at once go on in their order, a few in a turn',
  async (t) => {
    let inTurn = 0
    let most = 0
    const ownTurn = inSlices({
      turn: async () => {
        await setImmediate()
        most = Math.max(most, inTurn)
        inTurn = 0
      },
      rest: async () => undefined,
    })
    const order: number[] = []
    const come = async (n: number) => {
      for (let again = 0; again < 3; again++) {
        await ownTurn()
        inTurn++
        if (again === 0) order.push(n)
      }
    }
    const all = Array.from({ length: 100 }, (_, n) => n)
    await Promise.all(all.map(come))
    t.equal(most, 8)
    t.strictSame(order, all)
  },
)
