import t from 'tap'
import { lanes, within } from '../../../src/adapters/eventstoredb/lanes.ts'
import { deferred } from '../../../src/support/deferred.ts'

t.test('no more works at once than there are lanes, and in order', async (t) => {
  const { run } = lanes(2)
  const gates = Array.from({ length: 4 }, () => deferred<number>())
  const entered: number[] = []
  const runs = gates.map((gate, n) =>
    run(() => {
      entered.push(n)
      return gate.promise
    }),
  )
  t.strictSame(entered, [0, 1])
  gates[1]?.resolve(1)
  await runs[1]
  t.strictSame(entered, [0, 1, 2])
  gates[0]?.reject(new RangeError('failed'))
  await t.rejects(async () => runs[0], RangeError, 'its lane is free again')
  t.strictSame(entered, [0, 1, 2, 3])
  for (const gate of gates) gate.resolve(9)
  t.strictSame(await Promise.all(runs.slice(1)), [1, 9, 9])
})

t.test('who waits in line can be turned away', async (t) => {
  const { run, clear } = lanes(1)
  const gate = deferred<string>()
  const first = run(() => gate.promise)
  const second = run(async () => 'never')
  const refused = t.rejects(second, RangeError)
  clear(new RangeError('not today'))
  await refused
  gate.resolve('done')
  t.equal(await first, 'done')
  t.equal(await run(async () => 'next'), 'next')
})

t.test('a work that takes too long is given up', async (t) => {
  const late = () => new RangeError('late')
  await t.rejects(within(1, new Promise(() => undefined), late), RangeError)
  t.equal(await within(60_000, Promise.resolve('in time'), late), 'in time')
})
