import type { SessionRun, SessionView } from '../projections/sessions.ts'
import { runTimeOutMs } from '../src/domain/run-limits.ts'
import { sinceStored } from '../src/support/stopwatch.ts'

/**
 * The elapsed milliseconds of a run of this process; undefined: this process does not execute it.
 */
export type ElapsedHere = (runId: string) => number | undefined

export type SessionClock = { now(): Date; elapsedHere: ElapsedHere }

/**
 * Milliseconds since a session's latest turn began, left the queue or resumed after a pause. A run
 * of this process is measured by its monotonic clock, another one by wall time, at least 0.
 */
export const elapsedOf = ({ run_id, started_at }: SessionRun, clock: SessionClock): number =>
  clock.elapsedHere(run_id) ?? sinceStored(clock, started_at)

/** The state of a session's running or paused turn, for lists; without one, no fields. */
export const listedState = (
  run: SessionRun | null,
  clock: SessionClock,
): { state?: 'queued' | 'running' | 'awaiting_approval' | 'in_doubt' } => {
  if (run?.state === 'processing')
    return elapsedOf(run, clock) < runTimeOutMs ? { state: 'running' } : {}
  if (!run || run.state === 'ended' || run.state === 'timed_out') return {}
  return { state: run.state }
}

/** A session as lists and its own answer have it. */
export const sessionItem = (view: SessionView, clock: SessionClock) => {
  const { session_id, created_at, last_update_time, is_active, message_count, forked_from } = view
  const item = { session_id, created_at, last_update_time, is_active, message_count }
  return { ...item, ...(forked_from && { forked_from }), ...listedState(view.run, clock) }
}
