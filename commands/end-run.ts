import { latest } from '../src/domain/event.ts'
import type { SessionEvent } from '../src/domain/session/events.ts'
import type { RunOwner } from '../src/domain/session/running.ts'
import { decideEnd, decideRecord, type RunEnd } from '../src/domain/session/runs.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { inPieces } from '../src/event-sourcing/in-pieces.ts'
import type { Transactor } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { START } from '../src/ports/event-store.ts'
import { settleReservation } from './settle-reservation.ts'

export type EndRun = {
  sessionId: string
  payerId: string
  /** What is still to be stored of the run: steps, then the answer. */
  steps: readonly SessionEvent[]
  end: RunEnd
  /** Only as long as the run is this one's. */
  owner?: RunOwner
}

/**
 * The last steps and the end, in one list for each append. The answer is in the list with the end:
 * a run with a stored answer has always ended.
 */
const piecesOf = (steps: readonly SessionEvent[], end: RunEnd): SessionEvent[][] => {
  const pieces = inPieces<SessionEvent>([...steps, end])
  if (pieces.length === 1) return pieces
  const at = steps.findIndex(
    ({ type }) => type === 'AssistantMessageRecorded' || type === 'ClientToolsCalled',
  )
  const [first] = steps.slice(at)
  if (at === -1 || (first && pieces.at(-1)?.includes(first))) return pieces
  return [...inPieces(steps.slice(0, at)), [...steps.slice(at), end]]
}

/**
 * Ends a run and settles its credits, in one commit where the store shares them. If the run has
 * already ended, `ended` is false, and nothing is stored or charged. `lost`: another process runs
 * or has completed it. Steps beyond one append are stored first.
 * @throws AppendTooLarge for a step, or an answer with the end, beyond one append; charges nothing
 */
export const endRun = ({ begin: beginDecision, transact }: Transactor) => {
  const settle = settleReservation({ transact })
  return async ({ sessionId, payerId, steps, end, owner }: EndRun, call: Call) => {
    const { runId, charge } = end.data
    const stream = sessionStream(call.organizationId, sessionId)
    const pieces = piecesOf(steps, end)
    const last = pieces.at(-1)?.slice(0, -1) ?? []
    for (const piece of pieces.slice(0, -1))
      await transact(stream, decideRecord(runId, piece, owner), call)
    const run = beginDecision(stream, decideEnd(end, last, owner), call)
    const decided = await run.decided
    if (decided.length === 0) {
      const { running, turns } = (await run.stored).state
      const outcome = turns.find((turn) => turn.runId === runId)?.outcome
      const lost = running?.runId === runId || outcome === 'completed'
      return { ended: false, lost, position: START, at: '' }
    }
    // Both are under way: neither waits for the other.
    const settled = await settle({ userId: payerId, runId, charge }, call)
    const stored = await run.stored
    const position = latest(stored.position, settled.position)
    return { ended: true, lost: false, position, at: stored.at }
  }
}
export type EndRunCommand = ReturnType<typeof endRun>
