import fc from 'fast-check'
import t from 'tap'
import { fairQueue } from '../../src/support/fair-queue.ts'

t.test('owners take turns, the items of each in their order', async (t) => {
  const queue = fairQueue<string>(1)
  for (const item of ['a1', 'a2', 'a3']) queue.add('a', item)
  for (const item of ['b1', 'b2']) queue.add('b', item)
  queue.add('a', 'a1')
  const started: string[] = []
  for (let entry = queue.next(); entry; entry = queue.next()) {
    started.push(entry.item)
    t.equal(queue.next(), undefined, 'one place')
    entry.leave()
    entry.leave()
  }
  t.strictSame(started, ['a1', 'b1', 'a2', 'b2', 'a3'])
})

t.test('one owner never holds all places', async (t) => {
  const queue = fairQueue<string>(3)
  for (let n = 0; n < 10; n++) queue.add('a', `a${n}`)
  t.strictSame([queue.next()?.item, queue.next()?.item, queue.next()], ['a0', 'a1', undefined])
  queue.add('b', 'b0')
  const other = queue.next()
  t.equal(other?.item, 'b0')
  other?.leave()
  t.equal(queue.next(), undefined)
  t.equal(queue.clear().length, 8)
})

t.test('one owner holds at most the configured number of places', async (t) => {
  const queue = fairQueue<string>(6, 2)
  for (const owner of ['a', 'b', 'c', 'd'])
    for (let n = 0; n < 3; n++) queue.add(owner, `${owner}${n}`)
  const started = Array.from({ length: 7 }, () => queue.next()?.item)
  t.strictSame(started, ['a0', 'b0', 'c0', 'd0', 'a1', 'b1', undefined])
})

t.test(
  'an item takes as many places as its size, and is not overtaken by smaller ones',
  async (t) => {
    const queue = fairQueue<string>(6, 4)
    queue.add('a', 'a3', 3)
    queue.add('a', 'a2', 2)
    queue.add('b', 'b9', 9)
    queue.add('c', 'c1', 1)
    const first = queue.next()
    t.equal(first?.item, 'a3')
    t.equal(queue.next(), undefined, 'b9 takes all that an owner may have')
    first?.leave()
    t.strictSame([queue.next()?.item, queue.next()?.item], ['b9', 'c1'])
    t.equal(queue.next(), undefined, 'one place is left')
  },
)

t.test(
  'every item begins once, in its owner’s order, however many another owner has added',
  async (t) => {
    const items = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(items, (owners) => {
        const queue = fairQueue<{ owner: string; n: number }>(1)
        owners.forEach((owner, n) => {
          queue.add(owner, { owner, n })
        })
        const started: { owner: string; n: number }[] = []
        for (let entry = queue.next(); entry; entry = queue.next()) {
          started.push(entry.item)
          entry.leave()
        }
        if (started.length !== owners.length) return false
        return started.every(({ owner, n }, at) => {
          const own = started.slice(0, at).filter((entry) => entry.owner === owner)
          if (own.some((entry) => entry.n > n)) return false
          const before = ['a', 'b', 'c']
            .filter((other) => other !== owner)
            .map((other) => started.slice(0, at).filter((entry) => entry.owner === other).length)
          return Math.max(...before) <= own.length + 1
        })
      }),
    )
    t.pass()
  },
)
