import type { RunView } from '../../projections/runs.ts'
import { sessionStream } from '../domain/session/session.ts'
import type { AskedBy } from '../event-sourcing/asked-by.ts'

/** What each line of the log about a run that was recovered says: the run, and the request that began it. */
export const runNames =
  (askedBy: AskedBy) =>
  async ({ run_id, session_id, organization_id, revision = 0 }: RunView) => {
    const { name } = sessionStream(organization_id, session_id)
    const reqId = await askedBy(name, { from: revision, field: 'runId', is: run_id })
    return { ...(reqId === undefined ? {} : { reqId }), run_id }
  }

export type RunNames = ReturnType<typeof runNames>
