import { projections, projectionsAt } from '../../projections/all.ts'
import type { UnreadableEventView } from '../../projections/unreadable-events.ts'
import { type ListUnreadable, listUnreadable } from '../../queries/list-unreadable.ts'
import type { Log } from '../ports/log.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Views, WaitForPosition } from '../ports/views.ts'
import { bothPaces } from '../projector/both-paces.ts'
import { rebuildOutdated } from '../projector/outdated.ts'
import { projector } from '../projector/projector.ts'
import { rebuildJobs } from '../projector/rebuild-jobs.ts'
import type { MasterKeys } from '../security/master-keys.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import { opening } from '../support/disposal.ts'
import type { LeaseClock } from '../support/lease-time.ts'
import { laterApart } from './later-apart.ts'
import { laterHere } from './later-here.ts'
import { readModelRepair } from './read-model-repair.ts'
import { projectorLease, viewsOf } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<
    Stores,
    'events' | 'views' | 'snapshots' | 'leases' | 'sharedViews' | 'space' | 'renewed' | 'laterApart'
  >
  dataDir: string
  master: Pick<MasterKeys, 'secret' | 'rings'>
  logKeySeed: Secrets['logKeySeed']
  open: Vault['open']
  timePassed(time: number): Promise<void>
  /** Identifies this process until it ends. */
  node: string
  clock: LeaseClock
  log: Log
  telemetry: Telemetry | undefined
}

/** How long a command and a page of background work wait for the views, in milliseconds. */
export const viewTimeoutMs = 2_000
/** How many unreadable events are known to the fold that goes on behind them. */
const mostKnown = 100_000
/** How long a list of the read models waits for those that are folded later. */
const listedWithinMs = 1_000

/**
 * The unreadable events that are recorded so far. Reads what is folded by now: the read model
 * itself refuses queries while it is folded again, and the fold must not wait for itself.
 */
const knownUnreadable = async ({ idsOf, load }: Pick<Views, 'idsOf' | 'load'>) => {
  const name = 'unreadable_events'
  const ids = await idsOf(name, 'unreadable', [true])
  const documents = await load(name, ids.slice(0, mostKnown))
  return [...documents.values()] as unknown as UnreadableEventView[]
}

const laterNames = projectionsAt('later').map(({ name }) => name)
const isLater = (name: string) => laterNames.includes(name)

const promptProjector = ({ stores, node, clock, log, telemetry }: Uses) => {
  const { events: store, leases, sharedViews } = stores
  const lease = { leases, name: projectorLease, holder: node, clock }
  return projector({
    store,
    views: stores.views,
    projections: projectionsAt('prompt'),
    known: () => knownUnreadable(stores.views),
    renewed: stores.renewed,
    log,
    telemetry,
    ...(sharedViews ? { lease } : {}),
  })
}

/** The read models that are folded later: in a process of their own, or here. */
const openLater = async (uses: Uses) => {
  const { stores, dataDir, master, logKeySeed, open, timePassed, node, clock, log } = uses
  const { events, space } = stores
  return stores.laterApart
    ? laterApart({ dataDir, reserve: space.reserve, master, events, timePassed, log })
    : await laterHere({ stores, logKeySeed, open, timePassed, node, clock, log })
}

type StoredDocuments = Pick<Views, 'load' | 'checkpoint' | 'version'>

/** The documents of all read models, wherever they are folded. */
const documentsOf = (prompt: StoredDocuments, later: StoredDocuments): StoredDocuments => ({
  load: (view, ...rest) => (isLater(view) ? later : prompt).load(view, ...rest),
  checkpoint: (view, ...rest) => (isLater(view) ? later : prompt).checkpoint(view, ...rest),
  version: (view) => (isLater(view) ? later : prompt).version(view),
})

const rebuildingOf = (
  { stores, log }: Uses,
  documents: StoredDocuments,
  projecting: ReturnType<typeof bothPaces>,
  unreadable: ListUnreadable,
) => {
  const store = stores.events
  const jobs = rebuildJobs({ store, views: documents, projections, projecting, log })
  return {
    ...jobs,
    unreadable,
    /** Read models that are folded later get a moment to come to the end of the log. */
    async list() {
      await projecting.waitForPosition(await store.head(), listedWithinMs, laterNames)
      return jobs.list()
    },
  }
}

/** The projectors, and the read models that they fold. */
export const openReadSide = (uses: Uses) =>
  opening(async (opened) => {
    const { stores, log } = uses
    const views = await viewsOf(stores.views)
    const { unreadableEvents } = views
    const unreadable = listUnreadable({ unreadableEvents })
    const prompt = promptProjector(uses)
    const later = await openLater(uses)
    const projecting = bothPaces({ prompt, later: later.projecting, isLater })
    const documents = documentsOf(stores.views, later.documents)
    const rebuilding = rebuildingOf(uses, documents, projecting, unreadable)
    const repair = readModelRepair({
      store: stores.events,
      projections,
      unreadableEvents,
      checkpoint: documents.checkpoint,
      isLater,
      snapshots: stores.snapshots,
      projecting,
      log,
    })
    // Stopping the projectors interrupts rebuilds, which are then waited for.
    opened.add(rebuilding.ended)
    opened.add(later.projecting.stop)
    opened.add(prompt.stop)
    opened.add(repair.close)
    await repair.look()
    await prompt.start()
    repair.begin()

    const waitForPosition: WaitForPosition = (position) =>
      projecting.waitForPosition(position, viewTimeoutMs).then((isReached) => {
        if (!isReached) log.warn({ position }, 'the views did not show a command in time')
      })
    const { changes } = prompt
    const rebuildOld = rebuildOutdated({ views: documents, projections, projecting, rebuilding })
    const folding = { prompt, later, projecting, changes, rebuilding, rebuildOld }
    return { views, documents, ...folding, unreadable, waitForPosition }
  })
