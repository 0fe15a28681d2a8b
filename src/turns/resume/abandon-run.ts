import type { RunView } from '../../../projections/runs.ts'
import type { Log } from '../../ports/log.ts'
import type { UndeliveredRuns } from '../../ports/undelivered-runs.ts'

type Uses = { undelivered: Pick<UndeliveredRuns, 'abandon'>; log: Pick<Log, 'warn'> }

/**
 * Releases a run whose process died before it ended: its client got no answer. The client of a
 * paused run was already answered, so its run is not released.
 */
export const abandonRun =
  ({ undelivered, log }: Uses) =>
  async ({ run_id, node, status, waited_until }: RunView): Promise<void> => {
    if (status !== 'running' || waited_until !== undefined) return
    try {
      await undelivered.abandon(run_id, node)
    } catch (err) {
      log.warn({ err, run_id }, 'a retry of a request will not be recognized')
    }
  }
export type AbandonRun = ReturnType<typeof abandonRun>
