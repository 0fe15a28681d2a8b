import t from 'tap'
import { writePace } from '../../../src/adapters/embedded/write-pace.ts'

const table = (size = 0) => ({ changed: { size } })

/** Writes of so many changes, each of which took so long. */
const after = (writes: number, size: number, ms: number) => {
  const pace = writePace()
  const one = table()
  const waiting = (count: number) => {
    one.changed.size = count
    return one
  }
  const write = (count: number, took: number) => pace.writing([waiting(count)])(took)
  for (let n = 0; n < writes; n++) write(size, ms)
  const due = (count: number, rebuilds = false) => pace.isDue(waiting(count), rebuilds)
  return { write, due }
}

t.test('before anything is known, 128 changes are written', async (t) => {
  const pace = writePace()
  t.notOk(pace.isDue(table(127)))
  t.ok(pace.isDue(table(128)))
})

t.test('as many changes as take 8 ms are written, within bounds', async (t) => {
  const usual = after(60, 200, 4)
  t.notOk(usual.due(390))
  t.ok(usual.due(410))
  t.notOk(usual.due(190, true))
  t.ok(usual.due(210, true), 'as take 4 ms during a rebuild')
  const fast = after(60, 200, 0.1)
  t.notOk(fast.due(1_023))
  t.ok(fast.due(1_024))
  const slow = after(60, 200, 100)
  t.notOk(slow.due(127))
  t.ok(slow.due(128))
})

t.test('a write that was held up changes little, a small one nothing', async (t) => {
  const { write, due } = after(60, 200, 4)
  write(200, 1_000)
  t.notOk(due(310), 'counted as twice as long, and a quarter of that')
  t.ok(due(330))
  const small = after(60, 63, 100)
  t.notOk(small.due(127))
  t.ok(small.due(128))
})

t.test(
  'small tables are written together, a large one alone, all of them in the end',
  async (t) => {
    const pace = writePace()
    const [large, ...small] = [table(200), table(50), table(60), table(70)]
    t.strictSame(pace.piece([large, ...small]), [large])
    t.strictSame(pace.piece(small), small.slice(0, 2))
    t.strictSame(pace.piece([]), [])
  },
)
