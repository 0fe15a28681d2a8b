import t from 'tap'
import { subscriber } from '../../src/feeds/subscriber.ts'
import { waitingItems } from '../../src/feeds/waiting-items.ts'
import { bufferBudget } from '../../src/support/buffer-budget.ts'
import { at } from '../support/positions.ts'

const change = (n: number) => [{ position: at(n), text: `change ${n}` }]

/** So many subscribers of a read model, within a budget. */
const following = (count: number, most: number) => {
  const buffers = bufferBudget(most)
  const cuts: number[] = []
  const drop = () => {
    for (const follower of all) if (follower.lags()) follower.disconnect()
  }
  const waiting = waitingItems(buffers.holder({ drop }))
  const all = Array.from({ length: count }, (_, n) =>
    subscriber(at(0), () => cuts.push(n), undefined, waiting),
  )
  return { all, cuts, held: buffers.held }
}

t.test(
  'items that wait for many subscribers are counted once, until the last takes them',
  async (t) => {
    const { all, held, cuts } = following(3, 1_000)
    const [first, second, third] = all
    const items = change(1)
    for (const follower of all) follower.push(items, 10)
    t.equal(held(), 20)
    await first?.next()
    await second?.next()
    t.equal(held(), 20)
    await third?.next()
    t.equal(held(), 0)
    t.strictSame(cuts, [])
  },
)

t.test(
  'over the budget, subscribers that have not taken their items are disconnected',
  async (t) => {
    const { all, held, cuts } = following(2, 50)
    const [first, second] = all
    for (let n = 1; n <= 3; n++) {
      const items = change(n)
      const next = first?.next()
      for (const follower of all) follower.push(items, 10)
      t.match(await next, { value: { items } })
    }
    t.strictSame(cuts, [1])
    t.equal(held(), 0)
    t.match(await second?.next(), { done: true })
  },
)

t.test('a subscriber that ends releases its waiting items', (t) => {
  const { all, held } = following(1, 1_000)
  const [follower] = all
  follower?.push(change(1), 10)
  follower?.end()
  t.equal(held(), 0)
  t.end()
})
