import { projections } from '../projections/all.ts'
import { openStores } from '../src/app/stores.ts'
import { configFrom } from '../src/config.ts'
import { START } from '../src/ports/event-store.ts'
import { silent } from '../src/ports/log.ts'
import { projector } from '../src/projector/projector.ts'

/**
 * A process that folds the log of the configured stores into all views, and says on its IPC channel
 * how many events that were and how many milliseconds it took, until all of it was written.
 */
const { events, views, close } = await openStores(configFrom(process.env), silent)
let count = 0
for await (const batch of events.history(START)) count += batch.length
const head = await events.head()
const projecting = projector({ store: events, views, projections })
const start = performance.now()
await projecting.start()
const done = await projecting.waitForPosition(head, 300_000)
await projecting.stop()
await close()
process.send?.({ done, events: count, ms: performance.now() - start })
