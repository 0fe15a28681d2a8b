import t from 'tap'
import { commitPace } from '../../../src/adapters/embedded/commit-pace.ts'

const small = 2_000

/** How many of so many commits are waited for, on a disk that takes so long for each in turn. */
const waited = (pace: ReturnType<typeof commitPace>, commits: number, ...ms: number[]) => {
  let count = 0
  for (let n = 0; n < commits; n++) if (pace.waits()) pace.took(ms[count++ % ms.length] ?? 0, small)
  return count
}

t.test('a fast disk is waited for', async (t) => {
  t.ok(commitPace().waits(), 'before anything is known')
  t.equal(waited(commitPace(), 1_000, 0.2, 0.3), 1_000)
  t.equal(waited(commitPace(), 1_000, 0.2, 1.2, 9), 1_000, 'also by a process that loses its core')
})

t.test('a large commit may take longer: its bytes take the processor', async (t) => {
  const pace = commitPace()
  for (let n = 0; n < 8; n++) pace.took(1.4, 140_000)
  t.ok(pace.waits())
  for (let n = 0; n < 8; n++) pace.took(1.4, small)
  t.notOk(pace.waits())
})

t.test('a slow disk is waited for now and then, to see whether it still is slow', async (t) => {
  const pace = commitPace()
  t.equal(waited(pace, 7, 5), 7, 'until it is known')
  t.equal(waited(pace, 640, 5), 10)
  t.equal(waited(pace, 640, 5, 5, 5, 5, 5, 5, 5, 0.2), 10, 'one short commit says little')
})

t.test('a disk that is slow for a while', async (t) => {
  const pace = commitPace()
  t.equal(waited(pace, 100, 0.2), 100)
  t.equal(waited(pace, 7 + 640, 5), 7 + 10)
  t.equal(waited(pace, 2 * 64, 0.2), 2, 'is looked at twice before it is waited for again')
  t.equal(waited(pace, 100, 0.2), 100)
})
