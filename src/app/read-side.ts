import { projections, projectionsAt } from '../../projections/all.ts'
import type { Log } from '../ports/log.ts'
import type { WaitForPosition } from '../ports/views.ts'
import { bothPaces } from '../projector/both-paces.ts'
import { projector } from '../projector/projector.ts'
import { rebuildJobs } from '../projector/rebuild-jobs.ts'
import { opening } from '../support/disposal.ts'
import { laterHere } from './later-here.ts'
import { projectorLease, viewsOf } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'views' | 'leases' | 'sharedViews' | 'renewed'>
  /** This process's life. */
  node: string
  log: Log
}

/** How long a command's answer waits for the views to show it (read your own writes). */
const shownWithinMs = 2_000

/** How long a list of the read models waits for those that are folded later. */
const listedWithinMs = 1_000

/** What folds events into read models, and what reads them. */
export const openReadSide = ({ stores, node, log }: Uses) =>
  opening(async (opened) => {
    const { events: store, leases, sharedViews } = stores
    const lease = { leases, name: projectorLease, holder: node }
    const prompt = projector({
      store,
      views: stores.views,
      projections: projectionsAt('prompt'),
      renewed: stores.renewed,
      log,
      ...(sharedViews ? { lease } : {}),
    })
    const later = laterHere({ stores, node, log })
    const laterNames = new Set(projectionsAt('later').map(({ name }) => name))
    const projecting = bothPaces({ prompt, later, isLater: (name) => laterNames.has(name) })
    const jobs = rebuildJobs({ store, views: stores.views, projections, projecting, log })
    const rebuilding = {
      ...jobs,
      /** Those that are folded later get a moment to come to the end of the log. */
      async list() {
        await projecting.waitForPosition(await store.head(), listedWithinMs, [...laterNames])
        return jobs.list()
      },
    }
    const views = await viewsOf(stores.views)
    // Stopping the projectors interrupts rebuilds, which are then waited for.
    opened.add(rebuilding.ended)
    opened.add(prompt.stop)
    await prompt.start()
    opened.add(later.stop)
    await later.start()

    const waitForPosition: WaitForPosition = async (position) => {
      if (await projecting.waitForPosition(position, shownWithinMs)) return
      log.warn({ position }, 'the views did not show a command in time')
    }
    const { changes } = prompt
    return { views, prompt, later, projecting, changes, rebuilding, waitForPosition }
  })
