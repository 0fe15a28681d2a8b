import { setMaxListeners } from 'node:events'
import { type Appended, type EventStore, StoreUnavailable } from '../../ports/event-store.ts'
import { deadlineOf, refusedAddress, withQuickDiscovery } from './address.ts'
import { appendRequest } from './append-request.ts'
import { openBatchAppend } from './channel.ts'
import { readingClients } from './clients.ts'
import { portError } from './errors.ts'
import { type OnDropped, resubscribing } from './feed.ts'
import { headOf } from './head.ts'
import { namespaceOf } from './namespace.ts'
import { type OnForeign, ownEvents } from './own-events.ts'
import { reads } from './reads.ts'
import { singleFlight } from './single-flight.ts'
import { writer } from './writer.ts'

type Options = {
  /** `esdb://127.0.0.1:2113?tls=false`, `esdb://a:2113,b:2113,c:2113?tls=true` for a cluster. */
  url: string
  /** Letters, digits, `-` and `_`: the part of the server that is this installation's. */
  namespace?: string
  onDropped?: OnDropped
  /** Told once of each event in the namespace that this application did not write. */
  onForeign?: OnForeign
  /** How long appends and reads wait for a server that can answer; else the URL's, else 10 s. */
  patienceMs?: number
  /** How long the server may leave appends without any answer before it is asked anew. */
  silenceMs?: number
}

/**
 * EventStoreDB over gRPC, of which it has one part: the streams whose names begin with a namespace.
 * Names in the port are without it.
 * @throws TypeError when the address or the namespace is refused
 */
export const eventStoreDbEventStore = (options: Options): EventStore => {
  const { silenceMs = 1_000, onDropped, onForeign } = options
  const patienceMs = options.patienceMs ?? deadlineOf(options.url) ?? 10_000
  const refused = refusedAddress(options.url)
  if (refused) throw new TypeError(`EventStoreDB: the address ${refused}`)
  const url = withQuickDiscovery(options.url)
  const namespace = namespaceOf(options.namespace ?? 'reprise')
  const ours = ownEvents(namespace, onForeign)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal)
  const clients = readingClients(url)
  const connect = () => openBatchAppend(url)
  const writing = writer({ connect, silenceMs, patienceMs, closing: closing.signal })
  const reading = reads({ clients, namespace, ours, patienceMs, closing: closing.signal })
  const { head, end, passed } = headOf(reading, ours)
  const once = singleFlight<Appended>()
  let closed: Promise<unknown> | undefined

  const mustBeOpen = () => {
    if (closing.signal.aborted) throw new StoreUnavailable('EventStoreDB: the store is closed')
  }

  return {
    async append(stream, expected, events) {
      const request = appendRequest(namespace.onServer(stream), expected, events)
      const ids = events.map(({ id }) => id)
      try {
        return await once([stream, expected, ...ids].join(' '), () => writing.append(request))
      } catch (error) {
        throw portError(error, stream)
      }
    },

    async *read(stream, from = 0, most = Infinity) {
      try {
        mustBeOpen()
        yield* reading.ofStream(stream, from, most)
      } catch (error) {
        throw portError(error)
      }
    },

    async *history(after, upTo) {
      try {
        mustBeOpen()
        const end = upTo ?? (await head())
        if (end > after) yield* reading.between(after, end)
      } catch (error) {
        throw portError(error)
      }
    },

    async *at(positions) {
      try {
        mustBeOpen()
        for await (const some of positions) yield* reading.at(some)
      } catch (error) {
        throw portError(error)
      }
    },

    feed(after, signal) {
      const ending = signal ? AbortSignal.any([signal, closing.signal]) : closing.signal
      return resubscribing(after, { clients, namespace, ours, ending, onDropped, onPassed: passed })
    },

    async head() {
      try {
        mustBeOpen()
        return await head()
      } catch (error) {
        throw portError(error)
      }
    },

    async end() {
      try {
        mustBeOpen()
        return await end()
      } catch (error) {
        throw portError(error)
      }
    },

    distance: (from, to) => ({ amount: Math.max(0, to - from), unit: 'bytes' }),

    async close() {
      closing.abort()
      writing.close()
      closed ??= clients.dispose()
      await closed
    },
  }
}
