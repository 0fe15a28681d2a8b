import { projectionsAt } from '../../projections/all.ts'
import { START } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import { type Projecting, projector } from '../projector/projector.ts'
import { throttled } from '../projector/throttled.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import type { LeaseClock } from '../support/lease-time.ts'
import { auditReads } from './audit-reads.ts'
import type { Later } from './later.ts'
import { laterProjectorLease, laterViewsOf } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'views' | 'snapshots' | 'leases' | 'sharedViews' | 'renewed'>
  logKeySeed: Secrets['logKeySeed']
  open: Vault['open']
  timePassed(time: number): Promise<void>
  /** Identifies this process until it ends. */
  node: string
  clock: LeaseClock
  log: Log
}

/**
 * How long events gather. Where views are shared, readers on other nodes cannot say that they wait.
 */
const gatherMs = 1_000
const sharedGatherMs = 250
/** How long what gathered may be folded when it ends. */
const lastMs = 2_000

/** The read models that are folded later, folded and read in this thread. */
export const laterHere = async (uses: Uses): Promise<Later> => {
  const { stores, logKeySeed, open, timePassed, node, clock, log } = uses
  const { leases, sharedViews, views, snapshots } = stores
  const everyMs = sharedViews ? sharedGatherMs : gatherMs
  const { store, hurry } = throttled({ store: stores.events, everyMs })
  const lease = { leases, name: laterProjectorLease, holder: node, clock }
  const own = projector({
    store,
    views,
    projections: projectionsAt('later'),
    renewed: stores.renewed,
    log,
    ...(sharedViews ? { lease } : {}),
  })
  await own.start()
  const waitForPosition: Projecting['waitForPosition'] = (position, ...rest) => {
    hurry(position)
    return own.waitForPosition(position, ...rest)
  }
  const projecting: Projecting = {
    ...own,
    waitForPosition,
    /** Ends at the end of the log, if it gets there in time. */
    async stop() {
      const head = await store.head().catch(() => START)
      if (own.holds()) await waitForPosition(head, lastMs)
      await own.stop()
    },
  }
  const reads = auditReads({
    events: stores.events,
    views: await laterViewsOf(views),
    snapshots,
    projecting,
    logKeySeed,
    open,
    timePassed,
  })
  return { projecting, reads, documents: views, forget: () => undefined, damage: () => [] }
}
