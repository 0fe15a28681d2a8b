import { latest, metadataFault, ownerOf, type Position, timeOf } from '../src/domain/event.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { type EventStore, type RecordedEvent, START } from '../src/ports/event-store.ts'
import type { Vault } from '../src/security/vault.ts'
import { firstPart, inParts } from '../src/support/in-parts.ts'
import { fieldOf } from './event-field.ts'
import { opener, pageBytes, partBytes, partItems, weighed } from './opened.ts'
import type { HistoryQuery, Looked, ReadHistory } from './read-history.ts'
import type { ReadHistoryDescending } from './read-history-descending.ts'
import { earliestOfRun } from './run-time.ts'

/** The number of events that one page reads; matches may lie further on. */
const scanned = 10_000

/** `desc`: the newest first. */
export const eventOrders = ['asc', 'desc'] as const

export type EventsQuery = Omit<HistoryQuery, 'upTo' | 'after'> & {
  order?: (typeof eventOrders)[number] | undefined
  /** Continue past this position, in the order; absent: from its beginning. */
  after?: Position | undefined
  stream?: string | undefined
  type?: string | undefined
  /** A key or a user: who did it, or for whom. */
  actor?: string | undefined
  requestId?: string | undefined
  /** Events of the session's stream, and others whose data names the session. */
  sessionId?: string | undefined
  /** Named in the data: `provider/model`. */
  model?: string | undefined
  agentId?: string | undefined
  /** Named in the data. */
  runId?: string | undefined
}

type Uses = {
  readHistory: ReadHistory
  readHistoryDescending: ReadHistoryDescending
  read: EventStore['read']
  open: Vault['open']
}

/** Of a stream inside an organization. */
const owner = /^[^-]+-(?<organization>[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})_/

const isForeign = (stream: string, organizationId: string): boolean =>
  (owner.exec(stream)?.groups?.organization ?? organizationId) !== organizationId

const isBy = ({ metadata }: RecordedEvent, actor: string): boolean =>
  metadataFault(metadata) === undefined &&
  (metadata.actor.key_id === actor ||
    metadata.actor.user_id === actor ||
    metadata.on_behalf_of === actor)

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const isOfSession = (event: RecordedEvent, sessionId: string): boolean =>
  event.stream === sessionStream(ownerOf(event), sessionId).name ||
  fieldOf(event, 'sessionId') === sessionId

type Wanted = (event: RecordedEvent) => boolean

/** Each filter reads one event alone, so the events read bound the cost of a page. */
const filterOf = (query: EventsQuery): Wanted => {
  const { type, actor, requestId, sessionId, model, agentId, runId } = query
  const filters: Wanted[] = []
  if (type !== undefined) filters.push((event) => event.type === type)
  if (actor !== undefined) filters.push((event) => isBy(event, actor))
  if (requestId !== undefined) filters.push(({ metadata }) => metadata?.request_id === requestId)
  if (sessionId !== undefined) filters.push((event) => isOfSession(event, sessionId))
  if (model !== undefined) filters.push((event) => fieldOf(event, 'model') === model)
  if (agentId !== undefined) filters.push((event) => fieldOf(event, 'agentId') === agentId)
  if (runId !== undefined) filters.push((event) => fieldOf(event, 'runId') === runId)
  return (event) => filters.every((filter) => filter(event))
}

/** Only the time in which the run can have events: its id says when it began. */
const inRunTime = (query: EventsQuery): EventsQuery => {
  const earliest = query.runId === undefined ? undefined : earliestOfRun(query.runId)
  if (earliest === undefined) return query
  return { ...query, from: Math.max(query.from ?? earliest, earliest) }
}

/**
 * An organization's stored events in the order of the log or the reverse, with sealed texts
 * opened. New events only appear at the end of the log.
 */
export const listEvents = ({ readHistory, readHistoryDescending, read, open }: Uses) => {
  const opened = opener(open)

  const eventAnswer = (event: RecordedEvent) =>
    weighed(async (charge) => {
      const { position, id, stream, revision, type } = event
      const metadata = isObject(event.metadata) ? event.metadata : null
      const data = await opened.event(event, charge)
      return { position, id, stream, revision, type, data, metadata }
    })

  /**
   * Another organization's stream is not read; of a platform's only this one's events are shown.
   */
  async function* ofStream(name: string, query: HistoryQuery): AsyncGenerator<Looked> {
    const { organizationId, after, from = -Infinity, to = Infinity } = query
    if (isForeign(name, organizationId)) return
    let position = after
    for await (const batch of read(name)) {
      const own = batch.filter(
        (event) => event.position > after && ownerOf(event) === organizationId,
      )
      const events = own.filter((event) => {
        const at = timeOf(event) ?? from
        return at >= from && at < to
      })
      position = latest(position, own.at(-1)?.position ?? START)
      yield { events, position, looked: own.length }
    }
  }

  /** A stream cannot be read from its end: it is searched for in the history. */
  async function* descending(query: EventsQuery): AsyncGenerator<Looked> {
    const { stream, after: before, ...time } = query
    if (stream !== undefined && isForeign(stream, query.organizationId)) return
    for await (const looked of readHistoryDescending({ ...time, before }))
      yield stream === undefined
        ? looked
        : { ...looked, events: looked.events.filter((event) => event.stream === stream) }
  }

  const ascending = (query: EventsQuery): AsyncGenerator<Looked> => {
    const { stream, after = START, ...rest } = query
    return stream === undefined
      ? readHistory({ ...rest, after })
      : ofStream(stream, { ...rest, after })
  }

  async function* searchEvents(query: EventsQuery): AsyncGenerator<Looked> {
    const wanted = filterOf(query)
    const search = inRunTime(query)
    const batches = query.order === 'desc' ? descending(search) : ascending(search)
    for await (const { events, ...how } of batches) yield { ...how, events: events.filter(wanted) }
  }

  return {
    /**
     * `next_after` is the position to continue from; `has_more`: there were later events. A page
     * may have fewer events than its limit, or none, and still have more, since the work and memory
     * of a request are bounded.
     */
    async page({ limit, ...query }: EventsQuery & { limit: number }) {
      const matches: RecordedEvent[] = []
      let next_after = query.after ?? START
      let cost = 0
      let has_more = false
      for await (const { events, position, looked } of searchEvents(query)) {
        const room = limit - matches.length
        matches.push(...events.slice(0, room))
        has_more = events.length > room
        next_after = has_more ? (matches.at(-1)?.position ?? next_after) : position
        cost += looked
        if (has_more) break
        if (cost >= scanned) {
          has_more = true
          break
        }
      }
      const events = await firstPart(matches, eventAnswer, pageBytes)
      if (events.length === matches.length) return { events, next_after, has_more }
      return { events, next_after: events.at(-1)?.position ?? next_after, has_more: true }
    },

    /** All of them, or the first `limit`, in batches: as fast as they are taken. */
    async *all({ limit = Infinity, ...query }: EventsQuery & { limit?: number | undefined }) {
      let left = limit
      for await (const { events } of searchEvents(query)) {
        const some = events.slice(0, left)
        yield* inParts(some, eventAnswer, { bytes: partBytes, items: partItems })
        left -= some.length
        if (left <= 0) return
      }
    },
  }
}
export type ListEvents = ReturnType<typeof listEvents>
