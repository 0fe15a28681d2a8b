import { eventIndex } from '../../projections/event-index.ts'
import { platformTransparency } from '../../projections/platform-transparency.ts'
import { runSteps } from '../../projections/run-steps.ts'
import { runSummaries } from '../../projections/run-summaries.ts'
import { transparency } from '../../projections/transparency.ts'
import { usage } from '../../projections/usage.ts'
import { exportLines } from '../../queries/export-lines.ts'
import { findErasedRun } from '../../queries/find-erased-run.ts'
import { findPosition } from '../../queries/find-position.ts'
import { findSettlement } from '../../queries/find-settlement.ts'
import { type ChangesQuery, getChanges } from '../../queries/get-changes.ts'
import { type ChargesQuery, getCharges } from '../../queries/get-charges.ts'
import { getCheckpoint } from '../../queries/get-checkpoint.ts'
import { getEntries } from '../../queries/get-entries.ts'
import { getRun, type RunQuery } from '../../queries/get-run.ts'
import { getState, type Moment } from '../../queries/get-state.ts'
import { getTile } from '../../queries/get-tile.ts'
import { getUsage, type UsageQuery } from '../../queries/get-usage.ts'
import { type EventsQuery, listEvents } from '../../queries/list-events.ts'
import { listRuns, type RunsQuery } from '../../queries/list-runs.ts'
import { opener } from '../../queries/opened.ts'
import { proveConsistency } from '../../queries/prove-consistency.ts'
import { proveInclusion } from '../../queries/prove-inclusion.ts'
import { readAttempts } from '../../queries/read-attempts.ts'
import { readEvents } from '../../queries/read-events.ts'
import { readHistory } from '../../queries/read-history.ts'
import { readHistoryDescending } from '../../queries/read-history-descending.ts'
import { readRunCost } from '../../queries/read-run-cost.ts'
import { readTree } from '../../queries/read-tree.ts'
import { contentEvents } from '../domain/content/events.ts'
import { platformId } from '../domain/event.ts'
import { sessionEvents } from '../domain/session/events.ts'
import { tolerantDecoder } from '../event-sourcing/codec.ts'
import { feedHistory } from '../feeds/feed-history.ts'
import type { FeedBatch } from '../feeds/item.ts'
import { type EventStore, StoreUnavailable } from '../ports/event-store.ts'
import type { Projecting } from '../projector/projector.ts'
import { temporalQuery } from '../projector/temporal-query.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import { linesOf } from '../support/ndjson.ts'
import type { Tile } from '../transparency/tile.ts'
import { type LaterViews, projectionsVersion } from './read-models.ts'
import type { Stores } from './stores.ts'

type Uses = {
  events: Pick<EventStore, 'at' | 'head' | 'history' | 'read'>
  views: LaterViews
  snapshots: Stores['snapshots']
  projecting: Pick<Projecting, 'at' | 'waitForPosition'>
  logKeySeed: Secrets['logKeySeed']
  open: Vault['open']
  /** Resolves once nothing can be appended with this time any more. */
  timePassed(time: number): Promise<void>
  /** Whether there is little memory left for states. */
  isTight?: () => boolean
}

/** How long an answer waits for what it is read from to be folded. */
const patienceMs = 10_000
/** What is not indexed yet is searched for in the log, so an index is not waited for so long. */
const indexPatienceMs = 2_000

const treeOf = (organizationId: string) =>
  organizationId === platformId ? platformTransparency : transparency

type Of<Asked> = Asked & { organizationId: string }
type Page = { after: string | undefined; limit: number }

/**
 * What auditors and analysts read: long reads, and reads of read models that are folded later. Each
 * takes one plain value that names an organization, so that it can be answered in another thread.
 * An answer holds everything that was acknowledged before it was asked for.
 */
export const auditReads = (uses: Uses) => {
  const { events, views, snapshots, projecting, logKeySeed, open, timePassed } = uses
  const indexed = () => projecting.at(eventIndex.name)
  const history = readHistory({ store: events, eventIndex: views.eventIndex, indexed })
  const stateAt = temporalQuery({
    readHistory: history,
    snapshots,
    version: projectionsVersion(),
    ...(uses.isTight ? { isTight: uses.isTight } : {}),
  })
  const tree = readTree(views)
  const leaves = {
    readTree: tree,
    readEvents: readEvents({
      eventsAt: events.at,
      eventIndex: views.eventIndex,
      readHistory: history,
    }),
  }
  const listing = listEvents({
    readHistory: history,
    readHistoryDescending: readHistoryDescending({
      store: events,
      eventIndex: views.eventIndex,
      indexed,
    }),
    read: events.read,
    open,
  })
  const positions = {
    readHistory: history,
    eventsAt: events.at,
    eventIndex: views.eventIndex,
    indexed,
  }
  const states = {
    stateAt,
    findPosition: findPosition({ ...positions, timePassed }),
    head: events.head,
    open,
  }
  const stating = getState(states)
  const changing = getChanges(states)
  const checkpoint = getCheckpoint({ readTree: tree, logKeySeed })
  const tile = getTile(tree)
  const entries = getEntries(leaves)
  const inclusion = proveInclusion(tree)
  const consistency = proveConsistency(tree)
  const exporting = exportLines(leaves)
  const summing = getUsage({ usage: views.usage })
  const charging = getCharges({
    readRunCost: readRunCost({ read: events.read, decode: tolerantDecoder(sessionEvents) }),
    findErasedRun: findErasedRun({
      readHistory: history,
      // The events of a run that is looked for are stored already.
      findPosition: findPosition({ ...positions, timePassed: async () => undefined }),
    }),
    findSettlement: findSettlement({ readHistory: history }),
    readAttempts: readAttempts({ read: events.read, decode: tolerantDecoder(contentEvents) }),
  })
  const listingRuns = listRuns(views)
  const gettingRun = getRun(views)
  const feeding = feedHistory({
    read: events.read,
    readHistory: history,
    stateAt,
    opened: opener(open).document,
  })

  const folded = async (...names: readonly string[]): Promise<void> => {
    if (await projecting.waitForPosition(await events.head(), patienceMs, names)) return
    throw new StoreUnavailable(`${names.join(', ')} do not show the end of the log yet`)
  }
  const treeFolded = (organizationId: string) =>
    folded(treeOf(organizationId).name, eventIndex.name)
  const indexFolded = async () =>
    projecting.waitForPosition(await events.head(), indexPatienceMs, [eventIndex.name])

  return {
    answers: {
      async events(query: EventsQuery & { limit: number }) {
        await indexFolded()
        return listing.page(query)
      },
      async state({ organizationId, view, moment, after, limit }: Of<StateQuery>) {
        await indexFolded()
        const { position, total, page, named } = await stating(organizationId, view, moment)
        return { position, total, ...(await page(after, limit)), ...named }
      },
      async changes(query: ChangesQuery) {
        await indexFolded()
        return changing(query)
      },
      async charges(query: ChargesQuery) {
        await indexFolded()
        return charging(query)
      },
      async usage(query: UsageQuery) {
        await folded(usage.name)
        return summing(query)
      },
      async runs(query: RunsQuery) {
        await folded(runSummaries.name)
        return listingRuns(query)
      },
      async run(query: RunQuery) {
        await folded(runSummaries.name, runSteps.name)
        return gettingRun(query)
      },
      async checkpoint({ organizationId }: Of<unknown>) {
        await treeFolded(organizationId)
        return checkpoint(organizationId)
      },
      async tile({ organizationId, level, tile: coordinates }: Of<{ level: number; tile: Tile }>) {
        await treeFolded(organizationId)
        return tile(organizationId, level, coordinates)
      },
      async entries({ organizationId, tile: coordinates }: Of<{ tile: Tile }>) {
        await treeFolded(organizationId)
        return entries(organizationId, coordinates)
      },
      async inclusion({
        organizationId,
        index,
        size,
      }: Of<{ index: number; size?: number | undefined }>) {
        await treeFolded(organizationId)
        return inclusion(organizationId, index, size)
      },
      async consistency({
        organizationId,
        from,
        to,
      }: Of<{ from: number; to?: number | undefined }>) {
        await treeFolded(organizationId)
        return consistency(organizationId, from, to)
      },
    },
    streams: {
      async eventLines(query: EventsQuery & { limit?: number | undefined }) {
        await indexFolded()
        return { head: undefined, parts: linesOf(listing.all(query)) }
      },
      async stateLines({ organizationId, view, moment, after, limit }: Of<StateQuery>) {
        await indexFolded()
        const { position, after: following } = await stating(organizationId, view, moment)
        return { head: { position }, parts: linesOf(following(after, limit)) }
      },
      async exportLines({
        organizationId,
        from,
        to,
      }: Of<{ from: number; to?: number | undefined }>) {
        await treeFolded(organizationId)
        return { head: undefined, parts: await exporting(organizationId, from, to) }
      },
      async snapshot(query: Parameters<typeof feeding.snapshot>[0]) {
        await indexFolded()
        const parts: AsyncIterable<FeedBatch> = feeding.snapshot(query)
        return { head: undefined, parts }
      },
      async touched(query: Parameters<typeof feeding.touched>[0]) {
        await indexFolded()
        return { head: undefined, parts: feeding.touched(query) }
      },
    },
  }
}

type StateQuery = Page & { view: string; moment: Moment }

export type AuditReads = ReturnType<typeof auditReads>
