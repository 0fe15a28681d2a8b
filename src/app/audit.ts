import { eventIndex } from '../../projections/event-index.ts'
import { exportLines } from '../../queries/export-lines.ts'
import { findPosition } from '../../queries/find-position.ts'
import { getCheckpoint } from '../../queries/get-checkpoint.ts'
import { getEntries } from '../../queries/get-entries.ts'
import { getLogKey } from '../../queries/get-log-key.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { getState } from '../../queries/get-state.ts'
import { getTile } from '../../queries/get-tile.ts'
import { getUsage } from '../../queries/get-usage.ts'
import { listEvents } from '../../queries/list-events.ts'
import { opener } from '../../queries/opened.ts'
import { proveConsistency } from '../../queries/prove-consistency.ts'
import { proveInclusion } from '../../queries/prove-inclusion.ts'
import { readEvents } from '../../queries/read-events.ts'
import { readHistory } from '../../queries/read-history.ts'
import { readTree } from '../../queries/read-tree.ts'
import type { AppendTimes } from '../event-sourcing/append-times.ts'
import { feeds } from '../feeds/feeds.ts'
import {
  type HistoryOwner,
  organizationHistory,
  platformHistory,
} from '../http/checks/history-owner.ts'
import { adminAuditRoutes } from '../http/routes/admin-audit.ts'
import { adminFeedRoutes } from '../http/routes/admin-feeds.ts'
import { adminStateRoutes, adminUsageRoutes } from '../http/routes/admin-history.ts'
import { adminTransparencyRoutes } from '../http/routes/admin-transparency.ts'
import type { Log } from '../ports/log.ts'
import type { Projector } from '../projector/projector.ts'
import { temporalQuery } from '../projector/temporal-query.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import { type AllViews, projectionsVersion } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'views' | 'snapshots'>
  views: Pick<
    AllViews,
    'eventIndex' | 'organizations' | 'platformTransparency' | 'transparency' | 'usage'
  >
  projecting: Pick<Projector, 'at' | 'waitForPosition'>
  logKeySeed: Secrets['logKeySeed']
  open: Vault['open']
  timePassed: AppendTimes['passed']
  log: Log
}

/** What auditors read about an organization's history, and analysts about its read models. */
export const auditPart = (uses: Uses) => {
  const { stores, views, projecting, logKeySeed, open, timePassed, log } = uses
  const { events, snapshots } = stores
  const { organizations, usage } = views
  const indexed = () => projecting.at(eventIndex.name)
  const history = readHistory({ store: events, eventIndex: views.eventIndex, indexed })
  const stateAt = temporalQuery({ readHistory: history, snapshots, version: projectionsVersion() })
  const tree = readTree(views)
  const leaves = {
    readTree: tree,
    readEvents: readEvents({
      eventsAt: events.at,
      eventIndex: views.eventIndex,
      readHistory: history,
    }),
  }
  const oneOrganization = getOrganization(organizations)
  const following = feeds({
    store: events,
    views: stores.views,
    at: projecting.at,
    waitForPosition: projecting.waitForPosition,
    readHistory: history,
    stateAt,
    head: events.head,
    end: events.end,
    opened: opener(open).document,
    log,
  })
  const reads = {
    listEvents: listEvents({ readHistory: history, read: events.read, open }),
    getState: getState({
      stateAt,
      findPosition: findPosition({
        readHistory: history,
        eventsAt: events.at,
        eventIndex: views.eventIndex,
        indexed,
        timePassed,
      }),
      head: events.head,
      open,
    }),
  }
  const logReads = {
    getCheckpoint: getCheckpoint({ readTree: tree, logKeySeed }),
    getLogKey: getLogKey({ logKeySeed }),
    getTile: getTile(tree),
    getEntries: getEntries(leaves),
    proveInclusion: proveInclusion(tree),
    proveConsistency: proveConsistency(tree),
    exportLines: exportLines(leaves),
  }
  /** The same for every history, under its path. */
  const auditRoutes = (history: HistoryOwner) => [
    adminAuditRoutes({ history, listEvents: reads.listEvents }),
    adminStateRoutes({ history, getState: reads.getState }),
    adminTransparencyRoutes({ history, ...logReads }),
  ]
  return {
    /** Under /api/admin. */
    routes: [
      ...auditRoutes(organizationHistory(oneOrganization)),
      ...auditRoutes(platformHistory),
      adminUsageRoutes({ getOrganization: oneOrganization, getUsage: getUsage(usage) }),
      adminFeedRoutes({ getOrganization: oneOrganization, feeds: following }),
    ],
    /** Ends every feed that is followed. */
    endFeeds: following.close,
  }
}
