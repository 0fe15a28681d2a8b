import { refusal } from '../refusal.ts'
import type { Sealed } from '../sealed.ts'
import type { SessionEvent } from './events.ts'

/** Calls of a run that wait for the client, and where its agents go on from. */
export type WaitingCalls = {
  runId: string
  calls: readonly { id: string; name: string }[]
  state: Sealed
  /** The run that resumes with the results; if it fails, they can be sent again. */
  answeredIn: string | null
}

/** What the client answers to one call. */
export type ClientResult = { messageId: string; toolId: string; content: Sealed }

const listed = (ids: Iterable<string>): string => [...ids].join(', ')

/**
 * The calls that these results answer: all that are open, each once.
 * @throws invalid_tool_result
 */
export const requireOpen = (
  waiting: WaitingCalls | null,
  results: readonly ClientResult[],
): WaitingCalls => {
  const open = new Set(waiting?.answeredIn === null ? waiting.calls.map(({ id }) => id) : [])
  for (const { toolId } of results)
    if (!open.delete(toolId))
      throw refusal('invalid_tool_result', {
        field: 'messages',
        message: `There is no open call ${toolId}, or it has two results`,
      })
  if (!waiting || open.size > 0)
    throw refusal('invalid_tool_result', {
      field: 'messages',
      message: `All open calls are answered at once; there are no results for ${listed(open)}`,
    })
  return waiting
}

/** A new message of the user closes what is open. */
export const unanswered = ({
  runId,
  calls,
}: WaitingCalls): SessionEvent<'ClientToolsUnanswered'> => ({
  type: 'ClientToolsUnanswered',
  data: { runId, calls: [...calls] },
})

/** The calls after a run: answered by it, open again as it failed, or as they were. */
export const afterRun = (
  waiting: WaitingCalls,
  runId: string,
  failed: boolean,
): WaitingCalls | null => {
  if (waiting.answeredIn === runId) return failed ? { ...waiting, answeredIn: null } : null
  return waiting.runId === runId && failed ? null : waiting
}
