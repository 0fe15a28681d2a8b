import { timeOfId } from '../src/support/ids.ts'

/** How far the clocks of nodes may differ, in milliseconds. */
const clockMs = 5_000

/** Before this time (milliseconds since 1970) no event names the run; undefined: not known. */
export const earliestOfRun = (runId: string): number | undefined => {
  const began = timeOfId(runId)
  return began === undefined ? undefined : began - clockMs
}
