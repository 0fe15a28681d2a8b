import t from 'tap'
import { watermarks } from '../../src/projector/watermarks.ts'
import { at } from '../support/positions.ts'

const patience = 10_000

t.test('a passed position is answered at once, by one promise for all', async (t) => {
  const marks = watermarks(['a', 'b'], () => 0)
  marks.moved([
    { view: 'a', position: at(5) },
    { view: 'b', position: at(7) },
  ])
  t.equal(marks.waitForPosition(at(5), patience), marks.waitForPosition(at(3), patience))
  t.equal(marks.lowest(), 5)
  t.ok(await marks.waitForPosition(at(7), patience, ['b']))
  t.notOk(marks.waiting())
  t.ok(
    await watermarks([], () => 0).waitForPosition(at(5), patience),
    'without views there is nothing to await',
  )
})

t.test('a wait ends when the last view it is for has come there', async (t) => {
  const marks = watermarks(['a', 'b', 'c'], () => 0)
  const all = marks.waitForPosition(at(5), patience)
  const some = marks.waitForPosition(at(5), patience, ['a', 'b'])
  let order = ''
  void all.then(() => {
    order += 'all'
  })
  void some.then(() => {
    order += 'some,'
  })
  marks.moved([
    { view: 'a', position: at(9) },
    { view: 'b', position: at(4) },
  ])
  marks.moved([{ view: 'b', position: at(5) }])
  t.ok(await some)
  marks.moved([{ view: 'c', position: at(5) }])
  t.ok(await all)
  t.equal(order, 'some,all')
})

t.test('a wait that lasts too long ends with no', async (t) => {
  let time = 0
  const marks = watermarks(['a'], () => time)
  const [short, long] = [marks.waitForPosition(at(5), 10), marks.waitForPosition(at(5), 1000)]
  time = 10
  t.notOk(await short)
  t.ok(marks.waiting(), 'each for its own time')
  marks.moved([{ view: 'a', position: at(5) }])
  t.ok(await long)
})

t.test('nobody waits for a view that has stopped, until it moves', async (t) => {
  const marks = watermarks(['a', 'b'], () => 0)
  const wait = marks.waitForPosition(at(5), patience)
  marks.moved([{ view: 'a', position: at(5) }])
  marks.stopped('b')
  t.ok(await wait)
  t.equal(marks.lowest(), 5)
  marks.moved([{ view: 'b', position: at(4) }])
  t.equal(marks.lowest(), 4)
  marks.stopped('b')
  marks.renewed('b', at(2))
  t.equal(marks.lowest(), 2)
})

t.test('a view that stays behind the others is waited for once', async (t) => {
  let time = 0
  const marks = watermarks(['a', 'b'], () => time)
  marks.moved([{ view: 'a', position: at(5) }])
  const wait = marks.waitForPosition(at(5), 10)
  time = 10
  t.notOk(await wait)
  t.ok(await marks.waitForPosition(at(5), 10))
  const both = marks.waitForPosition(at(6), 10)
  time = 20
  t.notOk(await both, 'when none has come there, none is set aside')
  marks.moved([{ view: 'b', position: at(5) }])
  t.equal(marks.lowest(), 5)
})

t.test('at the end everyone is answered', async (t) => {
  const marks = watermarks(['a'], () => 0)
  const wait = marks.waitForPosition(at(5), patience)
  marks.end()
  t.notOk(await wait)
})
