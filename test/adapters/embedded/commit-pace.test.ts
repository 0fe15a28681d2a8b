import t from 'tap'
import { commitPace } from '../../../src/adapters/embedded/commit-pace.ts'

const after = (...took: number[]) => {
  const pace = commitPace()
  for (const ms of took) pace.took(ms)
  return pace
}

t.test('a fast disk is waited for', async (t) => {
  t.ok(commitPace().waits(), 'before anything is known')
  t.ok(after(0.2, 0.3, 0.2).waits())
  t.ok(after(0.2, 1.2).waits(), 'one slow commit is none yet')
})

t.test('a slow disk is waited for now and then, to see whether it still is slow', async (t) => {
  const pace = after(5, 5, 5)
  const waited = Array.from({ length: 640 }, () => pace.waits()).filter(Boolean)
  t.equal(waited.length, 10)
  for (let n = 0; n < 12; n++) pace.took(0.2)
  t.ok(pace.waits())
})
