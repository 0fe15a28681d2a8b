import t from 'tap'
import type { SessionRun } from '../../projections/sessions.ts'
import { elapsedOf, listedState } from '../../queries/session-state.ts'

const started_at = '2026-01-01T00:00:00.000Z'
const at = (time: string, elapsed?: number) => ({
  now: () => new Date(`2026-01-01T${time}Z`),
  elapsedHere: () => elapsed,
})
const run = (state: SessionRun['state']): SessionRun => ({
  run_id: 'run-1',
  state,
  started_at,
  current_agent: 'Orchestrator',
})

t.test('a session in a list has the state of its turn, while there is one', async (t) => {
  const now = at('00:29:59.999')
  t.strictSame(listedState(null, now), {})
  t.strictSame(listedState(run('ended'), now), {})
  t.strictSame(listedState(run('timed_out'), now), {})
  t.strictSame(listedState(run('processing'), now), { state: 'running' })
  t.strictSame(listedState(run('processing'), at('00:30:00.000')), {})
  for (const state of ['awaiting_approval', 'in_doubt'] as const)
    t.strictSame(listedState(run(state), at('23:00:00.000')), { state })
})

t.test('a run of this process is timed by the monotonic clock', async (t) => {
  const here = (time: string, elapsed: number) => listedState(run('processing'), at(time, elapsed))
  t.strictSame(here('01:00:00.000', 1_000), { state: 'running' }, 'put forward by an hour')
  t.strictSame(here('00:00:01.000', 1_800_000), {}, 'set back after half an hour')
})

t.test('a run of another process has an elapsed time of at least 0', async (t) => {
  const behind = { now: () => new Date('2025-12-31T23:00:00.000Z'), elapsedHere: () => undefined }
  t.equal(elapsedOf(run('processing'), behind), 0)
})
