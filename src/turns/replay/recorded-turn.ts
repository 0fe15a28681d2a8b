import { evolved } from '../../domain/aggregate.ts'
import type { Metadata, Position } from '../../domain/event.ts'
import { isRunEnd, type SessionEvent, sessionEvents } from '../../domain/session/events.ts'
import { type Session, session, sessionStream } from '../../domain/session/session.ts'
import { decoder } from '../../event-sourcing/codec.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { type Keyed, sessionKey, type Vault } from '../../security/vault.ts'

type Stored = SessionEvent & { metadata: Metadata; position: Position }

/** A run that has ended, as its session's stream has it. */
export type RecordedTurn = {
  sessionId: string
  started: SessionEvent<'RunStarted'>['data']
  /** Where it began in the log. */
  position: Position
  /** The session as it was when the run began. */
  before: Session
  /** Of the run, from the results that it resumes with to its end. */
  events: readonly Stored[]
  key: Keyed
}

type Uses = { read: EventStore['read']; vault: Pick<Vault, 'found'> }

type Place = { organizationId: string; sessionId: string; runId: string }

const decode = decoder(sessionEvents)

/** Undefined where the session is erased, and for a run that has not ended. */
export const readTurn =
  ({ read, vault }: Uses) =>
  async ({ organizationId, sessionId, runId }: Place): Promise<RecordedTurn | undefined> => {
    const key = await vault.found(sessionKey(organizationId, sessionId))
    if (!key) return undefined
    const events: Stored[] = []
    let before = session.initial
    let start: Pick<RecordedTurn, 'started' | 'position'> | undefined
    for await (const batch of read(sessionStream(organizationId, sessionId).name))
      for (const event of batch.map(decode)) {
        if (!start) before = evolved(session, before, [event])
        if (!('runId' in event.data) || event.data.runId !== runId) continue
        events.push(event)
        if (event.type === 'RunStarted') start = { started: event.data, position: event.position }
        if (start && isRunEnd(event)) return { sessionId, ...start, before, events, key }
      }
    return undefined
  }
