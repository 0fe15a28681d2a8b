import t from 'tap'
import { inSlices } from '../../src/feeds/slices.ts'

t.test(
  'a thousand are woken a few at a time, and other work has the loop in between',
  async (t) => {
    let time = 0
    let inTurn = 0
    let most = 0
    const rests: number[] = []
    const giveWay = inSlices({
      now: () => time,
      turn: async () => {
        most = Math.max(most, inTurn)
        // What was woken writes for so long.
        time += inTurn * 0.04
        inTurn = 0
      },
      rest: async (ms) => {
        rests.push(ms)
        time += ms
      },
    })
    for (let n = 0; n < 1_000; n++) {
      inTurn++
      await giveWay()
    }
    t.equal(most, 8)
    t.equal(rests.length, 31, 'one after each millisecond of writing')
    t.ok(rests.every((ms) => ms >= 3))
  },
)

t.test('where writing takes long, there is a rest after every turn', async (t) => {
  let time = 0
  let rests = 0
  const giveWay = inSlices({
    now: () => time,
    turn: async () => {
      time += 20
    },
    rest: async () => {
      rests++
    },
  })
  for (let n = 0; n < 80; n++) await giveWay()
  t.equal(rests, 10)
})
