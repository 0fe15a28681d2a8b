import t from 'tap'
import { yieldToEventLoop } from '../../src/support/yield-to-event-loop.ts'

t.test(
  'each caller gets a turn of the event loop of its own, in the order of the calls',
  async (t) => {
    let turn = 0
    let next = setImmediate(function look() {
      turn++
      next = setImmediate(look)
    })
    const turns = await Promise.all(
      Array.from({ length: 20 }, async (_, n) => {
        await yieldToEventLoop()
        return [n, turn]
      }),
    )
    clearImmediate(next)
    t.equal(new Set(turns.map(([, at]) => at)).size, 20)
    t.strictSame(
      turns.toSorted(([, a = 0], [, b = 0]) => a - b),
      turns,
    )
  },
)
