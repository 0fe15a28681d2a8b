import t from 'tap'
import { loopSlices } from '../../src/support/loop-slices.ts'

/** Four pieces a turn of the event loop. `turn` is the next one, and answers what began in it. */
const slicesOfFour = () => {
  const due: (() => void)[] = []
  let began: string[] = []
  const { take, enqueue } = loopSlices(4, (work) => due.push(work))
  return {
    take,
    enqueue: (...names: string[]) => {
      for (const name of names) enqueue(() => began.push(name))
    },
    turn: () => {
      began = []
      for (const work of due.splice(0)) work()
      return began
    },
    scheduled: () => due.length,
  }
}

t.test(
  'a piece in each turn begins at once, and every fourth one schedules a refill',
  async (t) => {
    const { take, turn, scheduled } = slicesOfFour()
    let refills = 0
    for (let n = 0; n < 100; n++) {
      t.ok(take())
      refills += scheduled()
      turn()
    }
    t.equal(refills, 25)
  },
)

t.test('pieces beyond the bound begin in later turns, in their order', async (t) => {
  const { take, enqueue, turn, scheduled } = slicesOfFour()
  t.strictSame([take(), take(), take(), take(), take()], [true, true, true, true, false])
  enqueue('a', 'b', 'c', 'd', 'e', 'f')
  t.strictSame(turn(), ['a', 'b', 'c', 'd'])
  t.strictSame(turn(), ['e', 'f'])
  turn()
  t.equal(scheduled(), 0)
  t.ok(take())
})

t.test('a piece does not overtake the line', async (t) => {
  const { take, enqueue, turn } = slicesOfFour()
  enqueue('a')
  t.notOk(take())
  t.strictSame(turn(), ['a'])
  t.ok(take())
})

t.test('a piece that enqueues itself again waits for those in line', async (t) => {
  const order: string[] = []
  const due: (() => void)[] = []
  const { enqueue } = loopSlices(2, (work) => due.push(work))
  const own = (name: string, times: number) => () => {
    order.push(name)
    if (times > 1) enqueue(own(name, times - 1))
  }
  for (const name of ['a', 'b', 'c']) enqueue(own(name, 2))
  while (due.length > 0) for (const work of due.splice(0)) work()
  t.strictSame(order, ['a', 'b', 'c', 'a', 'b', 'c'])
})
