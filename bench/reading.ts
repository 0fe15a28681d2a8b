import { EventStoreDBClient, streamNameFilter } from '@eventstore/db-client'

/**
 * A process that reads our part of $all with the client alone, as a subscription, and says on its
 * IPC channel how many events that were and how many milliseconds it took. It ends when no event
 * has come for half a second, which does not count.
 */
const client = EventStoreDBClient.connectionString(process.env.EVENTSTORE_URL ?? '')
const filter = streamNameFilter({ prefixes: ['reprise.'] })
const start = performance.now()
let last = start
let events = 0
const subscription = client.subscribeToAll({ fromPosition: 'start', filter })
const quiet = setInterval(() => {
  if (events === 0 || performance.now() - last < 500) return
  clearInterval(quiet)
  process.send?.({ events, ms: last - start })
  void subscription.unsubscribe().then(() => client.dispose())
}, 100)
for await (const _ of subscription) {
  events++
  last = performance.now()
}
