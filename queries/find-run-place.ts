import type { ContentView } from '../projections/contents.ts'
import type { RunView } from '../projections/runs.ts'
import type { View } from '../src/ports/views.ts'
import { findAll } from './find-all.ts'

/** Where the events of a run are, and the content that it requested. */
export type RunPlace = { sessionId: string; revision: number; contentIds: readonly string[] }

type Uses = { runs: View<RunView>; contents: View<ContentView> }

/** Undefined for an unknown run, and for one whose session is erased. */
export const findRunPlace =
  ({ runs, contents }: Uses) =>
  async (organizationId: string, runId: string): Promise<RunPlace | undefined> => {
    const run = await runs.get(runId)
    if (run?.organization_id !== organizationId) return undefined
    const { session_id: sessionId, revision = 0 } = run
    const query = { index: 'by_run', equals: [organizationId, runId] }
    const requested = await findAll(contents, query)
    return { sessionId, revision, contentIds: requested.map(({ id }) => id) }
  }
export type FindRunPlace = ReturnType<typeof findRunPlace>
