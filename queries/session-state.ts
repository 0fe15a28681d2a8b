import type { SessionRun } from '../projections/sessions.ts'

/** Session processing time-out (docs/contract/limits.md#times); the run itself is ended by the next tick. */
export const timeOutMs = 30 * 60_000

/** How it stands with a session's latest turn, in milliseconds since it began or went on. */
export const elapsedOf = ({ started_at }: SessionRun, now: Date): number =>
  Math.max(0, now.getTime() - Date.parse(started_at))

/** What a list tells of the turn of a session that is under way or waits for somebody; nothing where none does. */
export const stateOf = (
  run: SessionRun | null,
  now: Date,
): { state?: 'running' | 'awaiting_approval' | 'in_doubt' } => {
  if (run?.state === 'awaiting_approval' || run?.state === 'in_doubt') return { state: run.state }
  if (run?.state === 'processing' && elapsedOf(run, now) < timeOutMs) return { state: 'running' }
  return {}
}
