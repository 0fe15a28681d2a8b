import { findRunPlace } from '../../queries/find-run-place.ts'
import { getLogKey } from '../../queries/get-log-key.ts'
import { getOrganization } from '../../queries/get-organization.ts'
import { opener } from '../../queries/opened.ts'
import { feeds } from '../feeds/feeds.ts'
import {
  type HistoryOwner,
  organizationHistory,
  platformHistory,
} from '../http/checks/history-owner.ts'
import { adminAuditRoutes } from '../http/routes/admin-audit.ts'
import { adminChargeRoutes } from '../http/routes/admin-charges.ts'
import { adminFeedRoutes } from '../http/routes/admin-feeds.ts'
import { adminStateRoutes, adminUsageRoutes } from '../http/routes/admin-history.ts'
import { adminRunReadRoutes } from '../http/routes/admin-run-reads.ts'
import { adminTransparencyRoutes } from '../http/routes/admin-transparency.ts'
import type { Parts } from './parts.ts'

/** What auditors read about an organization's history, and analysts about its read models. */
export const auditPart = ({ host, storage, writing, reading }: Parts) => {
  const { events } = storage.stores
  const { documents, later, projecting, views } = reading
  const { answers, streams } = later.reads
  const oneOrganization = getOrganization(views)
  const ofOrganization = organizationHistory({ getOrganization: oneOrganization })
  const following = feeds({
    store: events,
    views: documents,
    at: projecting.at,
    waitForPosition: projecting.waitForPosition,
    history: {
      async *snapshot(query) {
        yield* (await streams.snapshot(query)).parts
      },
      async *touched(query) {
        yield* (await streams.touched(query)).parts
      },
    },
    head: events.head,
    end: events.end,
    opened: opener(writing.vault.open).document,
    buffers: host.buffers,
    log: host.log,
  })
  const listEvents = {
    page: answers.events,
    lines: async (query: Parameters<typeof streams.eventLines>[0]) =>
      (await streams.eventLines(query)).parts,
  }
  const getState = {
    page: answers.state,
    async lines(query: Parameters<typeof streams.stateLines>[0]) {
      const { head, parts } = await streams.stateLines(query)
      return { ...head, lines: parts }
    },
  }
  const logReads: Omit<Parameters<typeof adminTransparencyRoutes>[0], 'history'> = {
    getCheckpoint: (organizationId) => answers.checkpoint({ organizationId }),
    getLogKey: getLogKey({ logKeySeed: writing.secrets.logKeySeed }),
    getTile: (organizationId, level, tile) => answers.tile({ organizationId, level, tile }),
    getEntries: (organizationId, tile) => answers.entries({ organizationId, tile }),
    proveInclusion: (organizationId, index, size) =>
      answers.inclusion({ organizationId, index, size }),
    proveConsistency: (organizationId, from, to) =>
      answers.consistency({ organizationId, from, to }),
    exportLines: async (organizationId, from, to) =>
      (await streams.exportLines({ organizationId, from, to })).parts,
  }
  /** The same for every history, under its path. */
  const auditRoutes = (history: HistoryOwner) => [
    adminAuditRoutes({ history, listEvents }),
    adminStateRoutes({ history, getState, getChanges: answers.changes }),
    adminTransparencyRoutes({ history, ...logReads }),
  ]
  return {
    /** Under /api/admin. */
    routes: [
      ...auditRoutes(ofOrganization),
      adminChargeRoutes({
        history: ofOrganization,
        findRunPlace: findRunPlace(views),
        getCharges: answers.charges,
      }),
      ...auditRoutes(platformHistory),
      adminUsageRoutes({ getOrganization: oneOrganization, getUsage: answers.usage }),
      adminRunReadRoutes({
        getOrganization: oneOrganization,
        listRuns: answers.runs,
        getRun: answers.run,
      }),
      adminFeedRoutes({ getOrganization: oneOrganization, feeds: following }),
    ],
    /** Ends every feed that is followed. */
    endFeeds: following.close,
  }
}
