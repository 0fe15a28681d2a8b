import { latest, metadataFault, ownerOf, timeOf } from '../src/domain/event.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import { type EventStore, type RecordedEvent, START } from '../src/ports/event-store.ts'
import type { Vault } from '../src/security/vault.ts'
import { firstPart, inParts } from '../src/support/in-parts.ts'
import { opener, pageBytes, partBytes, partItems, weighed } from './opened.ts'
import type { AskedHistory, Looked, ReadHistory } from './read-history.ts'

/** How much of the log one page looks at; what it asks for may lie further on. */
const scanned = 10_000

export type AskedEvents = Omit<AskedHistory, 'upTo'> & {
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
}

type Uses = {
  readHistory: ReadHistory
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

/** A field of an event's data as it is stored, of whatever type the event is. */
const fieldOf = ({ data }: RecordedEvent, name: string): unknown =>
  isObject(data) ? Reflect.get(data, name) : undefined

const isOfSession = (event: RecordedEvent, sessionId: string): boolean =>
  event.stream === sessionStream(ownerOf(event), sessionId).name ||
  fieldOf(event, 'sessionId') === sessionId

type Wanted = (event: RecordedEvent) => boolean

/** Each filter looks at one event alone: what a page costs is bounded by the events it looks at. */
const wantedBy = (asked: AskedEvents): Wanted => {
  const { type, actor, requestId, sessionId, model, agentId } = asked
  const filters: Wanted[] = []
  if (type !== undefined) filters.push((event) => event.type === type)
  if (actor !== undefined) filters.push((event) => isBy(event, actor))
  if (requestId !== undefined) filters.push(({ metadata }) => metadata?.request_id === requestId)
  if (sessionId !== undefined) filters.push((event) => isOfSession(event, sessionId))
  if (model !== undefined) filters.push((event) => fieldOf(event, 'model') === model)
  if (agentId !== undefined) filters.push((event) => fieldOf(event, 'agentId') === agentId)
  return (event) => filters.every((filter) => filter(event))
}

/**
 * An organization's events as they are stored, in the log's order, what is sealed in them opened.
 * A position that was once passed stays passed, whatever is written meanwhile: what is new comes
 * behind it.
 */
export const listEvents = ({ readHistory, read, open }: Uses) => {
  const opened = opener(open)

  const shown = (event: RecordedEvent) =>
    weighed(async (charge) => {
      const { position, id, stream, revision, type } = event
      const metadata = isObject(event.metadata) ? event.metadata : null
      const data = await opened.event(event, charge)
      return { position, id, stream, revision, type, data, metadata }
    })

  /**
   * Another organization's stream is not read; of a platform's only this one's events are shown.
   */
  async function* ofStream(name: string, asked: AskedEvents): AsyncGenerator<Looked> {
    const { organizationId, after, from = -Infinity, to = Infinity } = asked
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

  async function* looking(asked: AskedEvents): AsyncGenerator<Looked> {
    const { stream } = asked
    const wanted = wantedBy(asked)
    for await (const { events, ...how } of stream ? ofStream(stream, asked) : readHistory(asked))
      yield { ...how, events: events.filter(wanted) }
  }

  return {
    /**
     * `next_after` is where to go on; `has_more` tells whether there was anything beyond at that
     * time. A page may have fewer events than asked for, or none, and more to come: the work and
     * the memory of a request are bounded, not its reach.
     */
    async page({ limit, ...asked }: AskedEvents & { limit: number }) {
      const found: RecordedEvent[] = []
      let next_after = asked.after
      let cost = 0
      let has_more = false
      for await (const { events, position, looked } of looking(asked)) {
        const room = limit - found.length
        found.push(...events.slice(0, room))
        has_more = events.length > room
        next_after = has_more ? (found.at(-1)?.position ?? next_after) : position
        cost += looked
        if (has_more) break
        if (cost >= scanned) {
          has_more = true
          break
        }
      }
      const events = await firstPart(found, shown, pageBytes)
      if (events.length === found.length) return { events, next_after, has_more }
      return { events, next_after: events.at(-1)?.position ?? next_after, has_more: true }
    },

    /** All of them, or the first `limit`, in batches: as fast as they are taken. */
    async *all({ limit = Infinity, ...asked }: AskedEvents & { limit?: number | undefined }) {
      let left = limit
      for await (const { events } of looking(asked)) {
        const some = events.slice(0, left)
        yield* inParts(some, shown, { bytes: partBytes, items: partItems })
        left -= some.length
        if (left <= 0) return
      }
    },
  }
}
export type ListEvents = ReturnType<typeof listEvents>
