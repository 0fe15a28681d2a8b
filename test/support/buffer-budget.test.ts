import t from 'tap'
import { bufferBudget } from '../../src/support/buffer-budget.ts'

/**
 * A budget of 100 bytes with named holders, 10 of them being small, and the names of those that
 * were dropped.
 */
const budget = () => {
  const buffers = bufferBudget(100, 10)
  const dropped: string[] = []
  const holder = (name: string, isStalled?: () => boolean) =>
    buffers.holder({
      drop: () => dropped.push(name),
      ...(isStalled ? { isStalled } : {}),
    })
  return { ...buffers, holder, names: dropped }
}

t.test('drops nothing within the budget, and released bytes no longer count', async (t) => {
  const { holder, held, names } = budget()
  const [first, second] = [holder('first'), holder('second')]
  first.hold(60)
  second.hold(40)
  t.equal(held(), 100)
  first.leave()
  second.hold(100)
  t.equal(held(), 100)
  t.strictSame(names, [])
})

t.test('over the budget the newest holder is dropped, not the one that grew', async (t) => {
  const { holder, held, dropped, names } = budget()
  const [first] = ['first', 'second', 'third'].map((name) => {
    const bufferHolder = holder(name)
    bufferHolder.hold(30)
    return bufferHolder
  })
  first?.hold(50)
  t.strictSame(names, ['third'])
  t.equal(held(), 80)
  t.equal(dropped(), 1)
})

t.test('a small newcomer stays, and is dropped itself when it grows', async (t) => {
  const { holder, names } = budget()
  holder('first').hold(50)
  holder('second').hold(50)
  const newcomer = holder('newcomer')
  newcomer.hold(10)
  t.strictSame(names, [])
  newcomer.hold(11)
  t.strictSame(names, ['newcomer'])
})

t.test('many small newcomers drop the newest large holder', async (t) => {
  const { holder, held, names } = budget()
  holder('first').hold(50)
  holder('second').hold(50)
  for (const name of ['a', 'b', 'c']) holder(name).hold(5)
  t.strictSame(names, ['second'])
  t.equal(held(), 65)
})

t.test('a holder whose client reads is dropped last', async (t) => {
  const { holder, names } = budget()
  holder('read', () => false).hold(70)
  holder('unread', () => true).hold(20)
  holder('read too', () => false).hold(20)
  t.strictSame(names, ['unread'])
})

t.test('drops as many holders as needed, even the one that grows', async (t) => {
  const { holder, held, names } = budget()
  for (const name of ['a', 'b', 'c']) holder(name).hold(30)
  holder('huge').hold(1_000)
  t.strictSame(names, ['huge'])
  t.equal(held(), 90)
})

t.test('a holder can be dropped within the budget, and counts as dropped', async (t) => {
  const { holder, held, dropped, names } = budget()
  holder('first').hold(30)
  const second = holder('second')
  second.hold(30)
  second.drop()
  t.strictSame(names, ['second'])
  t.equal(held(), 30)
  t.equal(dropped(), 1)
})

t.test('a dropped holder may hold again', async (t) => {
  const { holder, held, names } = budget()
  const bufferHolder = holder('one')
  bufferHolder.hold(101)
  bufferHolder.hold(50)
  t.strictSame(names, ['one'])
  t.equal(held(), 50)
  bufferHolder.leave()
  t.equal(held(), 0)
})
