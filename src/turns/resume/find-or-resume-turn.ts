import type { RunView } from '../../../projections/runs.ts'
import type { PastTurn } from '../read/past-turn.ts'
import type { LiveTurns } from '../run/live-turns.ts'
import type { OrphanRuns } from './orphan-runs.ts'

type Uses = {
  pastTurn: PastTurn
  findRun(runId: string): Promise<RunView | undefined>
  live: Pick<LiveTurns, 'find' | 'isRunning'>
  /** Whether another process shows that it lives. */
  isAlive(node: string): Promise<boolean>
  orphanRuns: Pick<OrphanRuns, 'resume'>
  /** This process's life. */
  node: string
}

/**
 * As `pastTurn`, and resumes a run whose process is gone here: its client does not wait for
 * housekeeping.
 */
export const findOrResumeTurn = (uses: Uses): PastTurn => {
  const { pastTurn, findRun, live, isAlive, orphanRuns, node } = uses

  const isLeft = async ({ run_id, status, node: owner }: RunView): Promise<boolean> => {
    if (status !== 'running' && status !== 'queued') return false
    return owner === node ? !live.isRunning(run_id) : !(await isAlive(owner))
  }

  return async (runId, had) => {
    const past = await pastTurn(runId, had)
    if (past) return past
    const run = await findRun(runId)
    if (!run || !(await isLeft(run))) return undefined
    await orphanRuns.resume([run])
    return live.find(runId)
  }
}
export type FindOrResumeTurn = ReturnType<typeof findOrResumeTurn>
