import type { Seen } from '../src/domain/event.ts'
import type { Answer, EventRef, RunEnding } from '../src/domain/session/charge.ts'
import { isRunEnd, type RunEndType, type sessionEvents } from '../src/domain/session/events.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { EventStore, RecordedEvent } from '../src/ports/event-store.ts'
import { fieldOf } from './event-field.ts'

type SessionEvents = typeof sessionEvents

export type RunEndEvent = Seen<SessionEvents, RunEndType>

type Uses = {
  read: EventStore['read']
  /** Undefined for an event that this release cannot read. */
  decode(event: RecordedEvent): Seen<SessionEvents> | undefined
}

/** The events of a run that say what it costs. */
export type RunCostRecord = {
  started?: Seen<SessionEvents, 'RunStarted'>
  answers: readonly Answer[]
  end?: RunEndEvent
}

export const eventRef = ({
  id,
  stream,
  type,
  position,
  metadata,
}: Omit<RecordedEvent, 'data' | 'revision'>): EventRef => ({
  id,
  stream,
  type,
  position,
  at: metadata.at,
})

const answerOf = (event: Seen<SessionEvents, 'ModelAnswered'>): Answer => {
  const { agent, model, price, promptTokens, completionTokens } = event.data
  return { event: eventRef(event), agent, model, price, promptTokens, completionTokens }
}

/** The cost that an end states. */
export const endingOf = (event: RunEndEvent): RunEnding => {
  const { promptTokens, completionTokens, charge, models } = event.data
  const cost = { event: eventRef(event), promptTokens, completionTokens, charge, models }
  if (event.type !== 'RunCompleted') return cost
  return { ...cost, model: event.data.model, price: event.data.price }
}

type RunStart = { organizationId: string; runId: string; sessionId: string; revision: number }

/** Reads a run from its beginning to its end; a session has one run at a time. */
export const readRunCost =
  ({ read, decode }: Uses) =>
  async ({ organizationId, runId, sessionId, revision }: RunStart): Promise<RunCostRecord> => {
    const answers = new Map<string, Answer>()
    let started: RunCostRecord['started']
    const recordOf = (end?: RunEndEvent): RunCostRecord => ({
      ...(started ? { started } : {}),
      answers: [...answers.values()],
      ...(end ? { end } : {}),
    })
    const { name } = sessionStream(organizationId, sessionId)
    for await (const batch of read(name, revision))
      for (const stored of batch) {
        const isOwn = fieldOf(stored, 'runId') === runId
        if (started && !isOwn && stored.type === 'RunStarted') return recordOf()
        const event = isOwn ? decode(stored) : undefined
        if (!event) continue
        if (isRunEnd(event)) return recordOf(event)
        if (event.type === 'RunStarted') started = event
        // If a place was written twice, the first event counts.
        if (event.type === 'ModelAnswered' && !answers.has(event.data.at))
          answers.set(event.data.at, answerOf(event))
      }
    return recordOf()
  }
export type ReadRunCost = ReturnType<typeof readRunCost>
