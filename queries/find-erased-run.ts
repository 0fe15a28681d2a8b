import { idIn } from '../projections/projection.ts'
import { isRunEnd } from '../src/domain/session/events.ts'
import { fieldOf } from './event-field.ts'
import type { FindPosition } from './find-position.ts'
import type { RunPlace } from './find-run-place.ts'
import type { SearchBudget } from './find-settlement.ts'
import type { ReadHistory } from './read-history.ts'
import { earliestOfRun } from './run-time.ts'

type Uses = { readHistory: ReadHistory; findPosition: FindPosition }

/**
 * A run that is in no view, as its session is erased: its id says when it began. The content that
 * it requested is found up to its end. Undefined: not among the events that the budget allows.
 */
export const findErasedRun =
  ({ readHistory, findPosition }: Uses) =>
  async (
    organizationId: string,
    runId: string,
    budget: SearchBudget,
  ): Promise<RunPlace | undefined> => {
    const time = earliestOfRun(runId)
    if (time === undefined) return undefined
    const after = await findPosition(organizationId, time)
    let run: Omit<RunPlace, 'contentIds'> | undefined
    const contentIds: string[] = []
    for await (const { events, looked } of readHistory({ organizationId, after })) {
      for (const event of events) {
        if (fieldOf(event, 'runId') !== runId) continue
        const { type, stream, revision } = event
        if (type === 'RunStarted') run = { sessionId: idIn(stream), revision }
        else if (type === 'ContentRequested') contentIds.push(idIn(stream))
        else if (run && isRunEnd(event)) return { ...run, contentIds }
      }
      budget.left -= looked
      if (budget.left <= 0) break
    }
    return run && { ...run, contentIds }
  }
export type FindErasedRun = ReturnType<typeof findErasedRun>
