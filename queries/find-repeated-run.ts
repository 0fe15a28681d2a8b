import type { RunView } from '../projections/runs.ts'
import { limitCode } from '../src/domain/run-limits.ts'
import type { View } from '../src/ports/views.ts'

/** How long a stock SDK's repetition is recognised (docs/contract/requests.md#retries-of-sdks). */
const recognisedMs = 600_000

const failed: readonly RunView['status'][] = ['failed', 'timed_out']

/** The latest run that a request with this fingerprint began, unless it failed: of a run that used up what it may, that is the answer. */
export const findRepeatedRun =
  (runs: View<RunView>) =>
  async (fingerprint: string, now: Date): Promise<RunView | undefined> => {
    const { items } = await runs.find({
      index: 'by_fingerprint',
      equals: [fingerprint],
      from: new Date(now.getTime() - recognisedMs).toISOString(),
      descending: true,
      limit: 1,
    })
    const [latest] = items
    const isAnswer = latest && (!failed.includes(latest.status) || latest.error_code === limitCode)
    return isAnswer ? latest : undefined
  }
export type FindRepeatedRun = ReturnType<typeof findRepeatedRun>
