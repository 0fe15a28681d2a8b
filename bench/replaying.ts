import { projections } from '../projections/all.ts'
import { openStores } from '../src/app/stores.ts'
import { silent } from '../src/ports/log.ts'
import { projector } from '../src/projector/projector.ts'

/**
 * A process that folds the log of DATA_DIR into all views, and says on its IPC channel how many
 * events that were and how many milliseconds it took, until all of it was written.
 */
const { events, views, close } = await openStores({ DATA_DIR: process.env.DATA_DIR ?? '' }, silent)
const head = await events.head()
const projecting = projector({ store: events, views, projections })
const start = performance.now()
await projecting.start()
const done = await projecting.waitForPosition(head, 300_000)
await projecting.stop()
await close()
process.send?.({ done, events: head + 1, ms: performance.now() - start })
