import type { RunView } from '../../../projections/runs.ts'
import { type Refusal, refusal } from '../../domain/refusal.ts'
import type { Delegated } from '../../security/delegate.ts'
import type { ForkSessions } from '../fork/fork-sessions.ts'
import type { FindTurn } from '../read/find-turn.ts'
import { runOfCall } from '../run/client-calls.ts'
import type { ArrivedPart } from './receive-parts.ts'
import type { RegenerateInput, ToolResultsInput, TurnInput } from './turn-input.ts'

type Uses = {
  findRun(runId: string): Promise<RunView | undefined>
  findTurn: Pick<FindTurn, 'placeOf'>
  forkSessions: Pick<ForkSessions, 'fork'>
}

/** The ids of a message; `sessionId` is where an earlier request stored it. */
export type MessageIds = { messageId: string; sessionId: string | undefined }

/** The session that a turn takes place in. */
export type SessionPlace = {
  /** Undefined: a new one. */
  sessionId: string | undefined
  /** The run that the session's latest turn has to be. */
  follows?: string
  /** The message that is answered anew, with its files. */
  regenerates?: { message: string; files: readonly ArrivedPart[] }
}

const notOpen = (callId: string): Refusal =>
  refusal('invalid_tool_result', {
    field: 'messages',
    message: `There is no open call ${callId}`,
  })

/** Finds or makes the session of a turn, once all else is checked. */
export const locateSession = ({ findRun, findTurn, forkSessions }: Uses) => {
  /**
   * The session whose calls are answered without naming it. Undefined for calls that were made
   * elsewhere and stand in `after` with their results.
   */
  const sessionOfCalls = async (
    organizationId: string,
    { results, after }: ToolResultsInput,
  ): Promise<string | undefined> => {
    for (const { toolId } of results) {
      const runId = runOfCall(toolId)
      if (runId === undefined) continue
      const run = await findRun(runId)
      if (run?.organization_id !== organizationId) throw notOpen(toolId)
      return run.session_id
    }
    const calls = new Set(after.map((message) => message.role === 'tool' && message.toolCallId))
    for (const { toolId } of results) if (!calls.has(toolId)) throw notOpen(toolId)
    return undefined
  }

  /**
   * The session of a run or, once the session has continued, a fork that ends with the run. Results
   * are for a turn that waits, and a fork has none that does.
   */
  const sessionAfter = async (
    runId: string,
    hasResults: boolean,
    { call, viewer }: Delegated,
    ids: MessageIds,
  ): Promise<SessionPlace> => {
    const { organizationId } = call
    const run = await findTurn.placeOf({ organizationId, viewer, runId })
    const { sessionId, isLatest, lastMessageId } = run
    if (isLatest || ids.sessionId === sessionId) return { sessionId, follows: runId }
    if (ids.sessionId !== undefined) return { sessionId: ids.sessionId }
    if (hasResults || lastMessageId === undefined) throw refusal('response_continued')
    const at = { after: lastMessageId }
    const fork = await forkSessions.fork({ viewer, sessionId, at, forkSessionId: undefined }, call)
    return { sessionId: fork.sessionId }
  }

  const forkBefore = async (
    input: RegenerateInput,
    { call, viewer }: Delegated,
    ids: MessageIds,
  ): Promise<SessionPlace> => {
    const { sessionId, messageId, forkSessionId } = input
    const fork = await forkSessions.fork(
      {
        viewer,
        sessionId,
        at: { beforeTurnOf: messageId },
        forkSessionId: ids.sessionId ?? forkSessionId,
        forkId: ids.messageId,
      },
      call,
    )
    const { message, files } = fork
    return { sessionId: fork.sessionId, regenerates: { message, files } }
  }

  /**
   * @throws invalid_tool_result, response_not_found, response_continued, session_not_found,
   * message_not_found, session_exists
   */
  return async (caller: Delegated, input: TurnInput, ids: MessageIds): Promise<SessionPlace> => {
    if (input.kind === 'regenerate') return forkBefore(input, caller, ids)
    const { session } = input
    const hasResults = input.kind === 'tool_results'
    if (session.kind === 'after_run') return sessionAfter(session.runId, hasResults, caller, ids)
    if (hasResults && !session.sessionId)
      return { sessionId: await sessionOfCalls(caller.call.organizationId, input) }
    return { sessionId: session.sessionId }
  }
}
