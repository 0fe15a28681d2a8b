import type { RunView } from '../projections/runs.ts'
import type { View } from '../src/ports/views.ts'

const states = ['awaiting_approval', 'in_doubt'] as const

/** How many runs of all organizations wait for somebody, by what they wait for. */
export const countWaitingRuns =
  ({ runs }: { runs: Pick<View<RunView>, 'find'> }) =>
  () =>
    Promise.all(
      states.map(async (state) => {
        const { total } = await runs.find({ index: 'waiting', equals: [state], limit: 1 })
        return { state, total }
      }),
    )
export type CountWaitingRuns = ReturnType<typeof countWaitingRuns>
