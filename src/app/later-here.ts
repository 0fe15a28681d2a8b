import { projectionsAt } from '../../projections/all.ts'
import { START } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import { type Projecting, projector } from '../projector/projector.ts'
import { unhurried } from '../projector/unhurried.ts'
import { laterProjectorLease } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'views' | 'leases' | 'sharedViews' | 'renewed'>
  /** This process's life. */
  node: string
  log: Log
}

/** How long events gather. Where views are shared, readers on other nodes cannot say that they wait. */
const gatherMs = 1_000
const sharedGatherMs = 250
/** How long what gathered may be folded when it ends. */
const lastMs = 2_000

/** Folds the read models that are folded later, in this thread. */
export const laterHere = ({ stores, node, log }: Uses) => {
  const { leases, sharedViews, views } = stores
  const everyMs = sharedViews ? sharedGatherMs : gatherMs
  const { store, hurry } = unhurried({ store: stores.events, everyMs })
  const lease = { leases, name: laterProjectorLease, holder: node }
  const own = projector({
    store,
    views,
    projections: projectionsAt('later'),
    renewed: stores.renewed,
    log,
    ...(sharedViews ? { lease } : {}),
  })
  const waitForPosition: Projecting['waitForPosition'] = (position, ...asked) => {
    hurry(position)
    return own.waitForPosition(position, ...asked)
  }
  return {
    ...own,
    waitForPosition,
    /** Ends at the end of the log, if it gets there in time: what stands still is read without it. */
    async stop() {
      const head = await store.head().catch(() => START)
      if (own.holds()) await waitForPosition(head, lastMs)
      await own.stop()
    },
  }
}
