import t from 'tap'
import {
  commitQueue,
  NotYet,
  type QueuedWrite,
} from '../../../src/adapters/embedded/commit-queue.ts'
import { deferred } from '../../../src/support/deferred.ts'

/** A queue over a store whose commits are on disk when the test says so. */
const held = () => {
  const batches: string[][] = []
  const under: ReturnType<typeof deferred<void>>[] = []
  let current: string[] = []
  const queue = commitQueue({
    commit(_bytes, write) {
      current = []
      write()
      batches.push(current)
      const disk = deferred<void>()
      under.push(disk)
      return disk.promise
    },
    committed: () => undefined,
    failed: (cause) => new Error(`not stored: ${cause}`),
    refused: (error) => error,
  })
  const change = (name: string, options: Partial<QueuedWrite<string>> = {}) =>
    queue.add({
      bytes: 1,
      prepare: () => () => {
        current.push(name)
        return name
      },
      ...options,
    })
  const awaitCommit = async (count: number) => {
    while (under.length < count) await new Promise(setImmediate)
    return under[count - 1]
  }
  return { queue, batches, change, awaitCommit }
}

t.test('changes during a commit make up the next one', async (t) => {
  const { batches, change, awaitCommit } = held()
  const first = [change('a'), change('b')]
  const firstCommit = await awaitCommit(1)
  const second = [change('c'), change('d')]
  firstCommit?.resolve()
  t.strictSame(await Promise.all(first), ['a', 'b'])
  ;(await awaitCommit(2))?.resolve()
  t.strictSame(await Promise.all(second), ['c', 'd'])
  t.strictSame(batches, [
    ['a', 'b'],
    ['c', 'd'],
  ])
})

t.test('a change sees the writes of earlier changes to the same subject', async (t) => {
  const { batches, change, awaitCommit } = held()
  const all = [
    change('a', { about: 'x' }),
    change('b', { about: 'y' }),
    change('c', { about: 'x' }),
    change('d', { alone: true }),
    change('e'),
  ]
  for (const n of [1, 2, 3, 4]) (await awaitCommit(n))?.resolve()
  await Promise.all(all)
  t.strictSame(batches, [['a', 'b'], ['c'], ['d'], ['e']])
})

t.test('a change that reads a write of its batch is prepared again for the next', async (t) => {
  const { batches, change, awaitCommit } = held()
  let calls = 0
  const prepare = () => {
    if (calls++ === 0) throw new NotYet()
    return () => 'read'
  }
  const all = [change('a'), change('b', { prepare }), change('c')]
  for (const n of [1, 2]) (await awaitCommit(n))?.resolve()
  t.strictSame(await Promise.all(all), ['a', 'read', 'c'])
  t.strictSame(batches, [['a'], ['c']])
})

t.test('a commit that fails stores nothing, and its owed changes go next', async (t) => {
  const { batches, change, awaitCommit } = held()
  const refused = t.rejects(change('a'), { message: 'not stored: Error: full' })
  void change('key', { owed: true })
  ;(await awaitCommit(1))?.reject(new Error('full'))
  await refused
  const next = change('b')
  ;(await awaitCommit(2))?.resolve()
  await next
  t.strictSame(batches, [
    ['a', 'key'],
    ['key', 'b'],
  ])
})

t.test('draining stores waiting changes, also behind a commit under way', async (t) => {
  const { queue, batches, change, awaitCommit } = held()
  const all = [change('a')]
  const firstCommit = await awaitCommit(1)
  all.push(change('b'))
  const drained = queue.drain()
  firstCommit?.resolve()
  ;(await awaitCommit(2))?.resolve()
  await drained
  t.strictSame(await Promise.all(all), ['a', 'b'])
  t.strictSame(batches, [['a'], ['b']])
})
