import { v5 as uuidOf } from 'uuid'
import { type EventOf, type EventTable, evolved } from '../domain/aggregate.ts'
import { schemaVersionOf } from '../domain/versions.ts'
import { type Call, metadataOf } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { NewEvent } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import { checkEvents, EventMisfit } from './check-events.ts'
import type { AnyStream, CachedStream, PendingDecision } from './stream-cache.ts'

const namespace = '6f1d3c1e-55a1-4c0b-9a55-3d2f7f0c1b7e'

/** Makes decisions, and the events to be appended of them. */
export const decisionsMade = ({ id }: Pick<Clock, 'id'>) => {
  /** Events of a call with a scope have the same ids when the call is made again. */
  const idOf = ({ scope }: Call, stream: string, revision: number): string =>
    scope ? uuidOf(`${scope}/${stream}/${revision}`, namespace) : id()

  return {
    /**
     * Makes each decision on the state that the ones before it leave, and notes in it what came of
     * it. Its events are checked before the next one is made: all that follows rests on what will
     * be read. Answers the events of all, for an append at a time. Stores nothing.
     */
    decideAll(
      { aggregate, name }: AnyStream,
      cached: CachedStream,
      batch: readonly PendingDecision[],
      at: string,
    ): NewEvent[] {
      const events: NewEvent[] = []
      let { state } = cached
      for (const decision of batch) {
        decision.refusal = undefined
        const { call } = decision
        try {
          const newEvents = decision.decide(state)
          const checked = checkEvents(aggregate.events, newEvents, metadataOf(call, 1, at))
          const { metadata } = checked
          decision.events = checked.events
          state = evolved(aggregate, state, decision.events as readonly EventOf<EventTable>[])
          decision.state = state
          for (const { type, data } of decision.events) {
            const version = schemaVersionOf(type)
            events.push({
              id: idOf(call, name, cached.revision + 1 + events.length),
              type,
              data,
              metadata: version === 1 ? metadata : { ...metadata, schema_version: version },
              decided: true,
            })
          }
        } catch (error) {
          decision.refusal = { error }
        }
      }
      return events
    },
  }
}

/** A decision without events, or a refusal, rests on a state that may be outdated. */
export const isIdle = ({ refusal, events }: PendingDecision): boolean =>
  refusal !== undefined || events.length === 0

/** The decisions that were not refused; tells the others. */
export const accepted = (
  batch: readonly PendingDecision[],
  log: Pick<Log, 'error'>,
): readonly PendingDecision[] => {
  if (!batch.some(({ refusal }) => refusal)) return batch
  for (const { refusal, refused, call } of batch) {
    if (!refusal) continue
    const { error } = refusal
    if (error instanceof EventMisfit) {
      const { event, path } = error
      log.error({ event, path, reqId: call.requestId }, 'an event cannot be stored')
    }
    refused(error)
  }
  return batch.filter(({ refusal }) => !refusal)
}
