import { projections, projectionsAt } from '../projections/all.ts'
import { laterApart } from '../src/app/later-apart.ts'
import { masterKeyOf } from '../src/app/master-key.ts'
import { openMasterKey } from '../src/app/open-master-key.ts'
import { openStores } from '../src/app/stores.ts'
import { configFrom } from '../src/config.ts'
import { START } from '../src/ports/event-store.ts'
import { silent as log } from '../src/ports/log.ts'
import { projector } from '../src/projector/projector.ts'

const withinMs = 300_000

/**
 * A process that folds the log of the configured stores into all views and reports the number of
 * events and the milliseconds on its IPC channel. As in a server with embedded stores, another
 * process folds the deferred views.
 */
const config = configFrom(process.env)
const stores = await openStores(config, log, { laterApart: true })
const { events, views } = stores
const { master, close } = await openMasterKey({
  config,
  masterKey: await masterKeyOf(config),
  stores,
  log,
})
let count = 0
for await (const batch of events.history(START)) count += batch.length
const head = await events.head()
const prompt = projector({
  store: events,
  views,
  projections: stores.laterApart ? projectionsAt('prompt') : projections,
})
const dataDir = config.DATA_DIR
const timePassed = async () => undefined
const start = performance.now()
const later = stores.laterApart
  ? laterApart({ reserve: stores.space.reserve, dataDir, master, events, timePassed, log })
  : undefined
await prompt.start()
const done = await Promise.all([
  prompt.waitForPosition(head, withinMs),
  later?.projecting.waitForPosition(head, withinMs),
])
await Promise.all([prompt.stop(), later?.projecting.stop()])
await close()
await stores.close()
process.send?.({
  done: done.every((reached) => reached !== false),
  events: count,
  ms: performance.now() - start,
})
