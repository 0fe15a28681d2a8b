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
 * The last steps and the end in lists of one append each. The answer is in one with the end, so that no run that goes on has
 * its answer behind it.
 */
const piecesOf = (steps: readonly SessionEvent[], end: RunEnd): SessionEvent[][] => {
  const whole = inPieces<SessionEvent>([...steps, end])
  if (whole.length === 1) return whole
  const at = steps.findIndex(
    ({ type }) => type === 'AssistantMessageRecorded' || type === 'ClientToolsCalled',
  )
  const [first] = steps.slice(at)
  if (at === -1 || (first && whole.at(-1)?.includes(first))) return whole
  return [...inPieces(steps.slice(0, at)), [...steps.slice(at), end]]
}

/**
 * Ends a run and settles its credits, in one commit where the store shares them. A run ends once:
 * when it has ended already (timed out, say), nothing is stored or charged and `ended` is false. `lost`:
 * it goes on as another's, or that one has completed it.
 * Steps that are too much for one append are stored before, in several.
 * @throws AppendTooLarge for a step, or an answer with the end, that fits in no append; nothing is charged
 */
export const endRun = ({ begin, transact }: Transactor) => {
  const settle = settleReservation(transact)
  return async ({ sessionId, payerId, steps, end, owner }: EndRun, call: Call) => {
    const { runId, charge } = end.data
    const stream = sessionStream(call.organizationId, sessionId)
    const pieces = piecesOf(steps, end)
    const last = pieces.at(-1)?.slice(0, -1) ?? []
    for (const piece of pieces.slice(0, -1))
      await transact(stream, decideRecord(runId, piece, owner), call)
    const run = begin(stream, decideEnd(end, last, owner), call)
    const decided = run.decided instanceof Promise ? await run.decided : run.decided
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
