import { projections } from '../../projections/all.ts'
import type { Log } from '../ports/log.ts'
import type { WaitForPosition } from '../ports/views.ts'
import { projector } from '../projector/projector.ts'
import { rebuildJobs } from '../projector/rebuild-jobs.ts'
import { opening } from '../support/disposal.ts'
import { projectorLease, viewsOf } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'views' | 'leases' | 'sharedViews'>
  /** This process's life. */
  node: string
  log: Log
}

/** How long a command's answer waits for the views to show it (read your own writes). */
const shownWithinMs = 2_000

/** What folds events into read models, and what reads them. */
export const openReadSide = ({ stores, node, log }: Uses) =>
  opening(async (opened) => {
    const { events: store, leases, sharedViews } = stores
    const lease = { leases, name: projectorLease, holder: node }
    const projecting = projector({
      store,
      views: stores.views,
      projections,
      log,
      ...(sharedViews ? { lease } : {}),
    })
    const rebuilding = rebuildJobs({ store, views: stores.views, projections, projecting, log })
    const views = await viewsOf(stores.views)
    // Stopping the projector interrupts rebuilds, which are then waited for.
    opened.add(rebuilding.ended)
    opened.add(projecting.stop)
    await projecting.start()

    const waitForPosition: WaitForPosition = async (position) => {
      if (await projecting.waitForPosition(position, shownWithinMs)) return
      log.warn({ position }, 'the views did not show a command in time')
    }
    return { views, projecting, rebuilding, waitForPosition }
  })
