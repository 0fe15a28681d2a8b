import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { merge, NEVER, type Observable } from 'rxjs'
import { projectionsAt } from '../../projections/all.ts'
import { embeddedAnswers } from '../adapters/embedded/answers.ts'
import { embeddedBlobs } from '../adapters/embedded/blobs.ts'
import { type OpenDiskSpace, openDiskSpace } from '../adapters/embedded/disk-space.ts'
import { embeddedEventStore } from '../adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../adapters/embedded/key-store.ts'
import { embeddedLeases } from '../adapters/embedded/leases.ts'
import { openLog } from '../adapters/embedded/log.ts'
import { partedViews } from '../adapters/embedded/parted-views.ts'
import { embeddedUndeliveredRuns } from '../adapters/embedded/undelivered-runs.ts'
import type { Config } from '../config.ts'
import type { Answers } from '../ports/answers.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Damage } from '../ports/damage.ts'
import type { EventStore, StoreDamaged } from '../ports/event-store.ts'
import type { KeyRecords, KeyStore } from '../ports/keys.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { UndeliveredRuns } from '../ports/undelivered-runs.ts'
import type { Views } from '../ports/views.ts'
import { opening } from '../support/disposal.ts'
import { type LeaseClock, processClock } from '../support/lease-time.ts'
import { embeddedReads } from './embedded-reads.ts'
import { laterFolder, logFolder } from './read-models.ts'
import { addressOf, type StoreWait, waitForStore } from './wait-for-store.ts'

/** Everything that outlives the process, behind its ports. */
export type Stores = {
  events: EventStore
  keys: KeyStore & KeyRecords
  answers: Answers
  undelivered: UndeliveredRuns
  blobs: Blobs
  views: Views
  snapshots: Snapshots
  leases: Leases
  /** Other processes append to the same events. */
  sharedEvents: boolean
  /** Other processes read the same views, and one of them projects. */
  sharedViews: boolean
  /** Another process of this server opens the views that are folded later, not this one. */
  laterApart: boolean
  /** How many events in our part of a shared store were found that are not ours. */
  foreignEvents(): number
  /** What was found damaged since the start. */
  damage(): readonly Damage[]
  /** Called before each write to DATA_DIR. */
  space: OpenDiskSpace
  /** Emits when the views were damaged: they are empty, and folded from the start. */
  renewed: Observable<void>
  close(): Promise<void>
}

type Where = Pick<Config, 'DATA_DIR' | 'EVENTSTORE_URL' | 'MONGODB_URL'> &
  Partial<Pick<Config, 'EVENTSTORE_NAMESPACE' | 'DISK_RESERVE_MB'>>

type Options = StoreWait & {
  /** Positions that the embedded log leaves out before each append, for tests. */
  positionGap?: number
  /** Called when a damaged page of the embedded log is found after opening. */
  onDamaged?(error: StoreDamaged): void
  /** Where all is embedded, another process opens the views that are folded later. */
  laterApart?: boolean
  /** The clock that times leases. */
  clock?: LeaseClock
}

/** Events, keys and first answers in DATA_DIR. @throws StoreInUse, StoreFormat, StoreDamaged */
const embeddedLog = async (opened: Parameters<typeof openLog>[0], gap: number) => {
  const store = await openLog(opened)
  return {
    events: embeddedEventStore(store, { gap }),
    keys: embeddedKeyStore(store),
    answers: embeddedAnswers(store),
    undelivered: embeddedUndeliveredRuns(store),
    damage: store.damage,
    close: () => store.close(),
  }
}

const laterNames = projectionsAt('later').map(({ name }) => name)

/**
 * Views and snapshots in DATA_DIR. Beside an embedded log, those that are folded later are in a
 * folder of their own, which another process may open.
 */
const embeddedViews = (
  dataDir: string,
  log: Log,
  options: { besideLog: boolean; laterApart: boolean; clock: LeaseClock; space: OpenDiskSpace },
) =>
  opening(async (opened) => {
    const { besideLog, laterApart, clock, space } = options
    const dropped = besideLog ? laterNames : []
    const own = opened.use(await embeddedReads(join(dataDir, 'views'), log, { dropped, space }))
    const { views, snapshots, renewed, damage } = own
    const leases = embeddedLeases(clock)
    if (!besideLog || laterApart) return { views, snapshots, leases, renewed, damage }
    const later = opened.use(await embeddedReads(join(dataDir, laterFolder), log, { space }))
    const isOther = (view: string) => laterNames.includes(view)
    return {
      views: partedViews({ views, others: later.views, isOther }),
      snapshots,
      leases,
      renewed: merge(renewed, later.renewed),
      damage: () => [...damage(), ...later.damage()],
    }
  })

/**
 * All but the events; the client is loaded only where it is configured. @throws StoreUnavailable
 */
const mongoDb = async (url: string, log: Log, wait: StoreWait, clock: LeaseClock) => {
  const { mongoStores } = await import('../adapters/mongodb/stores.ts')
  return waitForStore(`MongoDB at ${addressOf(url)}`, log, wait, () => mongoStores(url, clock))
}

/**
 * The events alone; the client is loaded only where it is configured. What others have written into
 * our namespace is passed over, logged and counted. @throws StoreUnavailable
 */
const eventStoreDb = (url: string, namespace: string, log: Log, wait: StoreWait) =>
  opening(async (opened) => {
    const { eventStoreDbEventStore } = await import('../adapters/eventstoredb/event-store.ts')
    let foreignEvents = 0
    const events = opened.use(
      eventStoreDbEventStore({
        url,
        namespace,
        onDropped: (err) => log.warn({ err }, 'the subscription to EventStoreDB was dropped'),
        onForeign: (foreign) => {
          foreignEvents++
          log.warn(foreign, 'an event in our namespace is not ours and was skipped')
        },
      }),
    )
    await waitForStore(`EventStoreDB at ${addressOf(url)}`, log, wait, events.head)
    return { events, foreignEvents: () => foreignEvents }
  })

/**
 * Opens what the configuration names; databases are waited for.
 * @throws StoreInUse, StoreFormat, StoreDamaged, StoreUnavailable
 */
export const openStores = (config: Where, log: Log, options: Options = {}): Promise<Stores> =>
  opening(async (opened) => {
    const { DATA_DIR, EVENTSTORE_URL, EVENTSTORE_NAMESPACE = 'reprise' } = config
    const { MONGODB_URL, DISK_RESERVE_MB } = config
    const { positionGap = 0, laterApart = false, clock = processClock, ...more } = options
    const { onDamaged = () => undefined, ...wait } = more
    await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
    const reserve = DISK_RESERVE_MB && DISK_RESERVE_MB * 1_048_576
    const space = openDiskSpace({ folder: DATA_DIR, reserve, log })
    const mongo = MONGODB_URL ? opened.use(await mongoDb(MONGODB_URL, log, wait, clock)) : undefined
    const path = join(DATA_DIR, logFolder)
    const room = space.room('events', path)
    const local =
      EVENTSTORE_URL && mongo
        ? undefined
        : opened.use(await embeddedLog({ path, room, log, onFault: onDamaged }, positionGap))
    const remote = EVENTSTORE_URL
      ? opened.use(await eventStoreDb(EVENTSTORE_URL, EVENTSTORE_NAMESPACE, log, wait))
      : undefined
    const besideLog = !mongo && !remote
    const embedded = mongo
      ? undefined
      : opened.use(await embeddedViews(DATA_DIR, log, { besideLog, laterApart, clock, space }))
    const reads = mongo ?? embedded
    const blobsPath = join(DATA_DIR, 'blobs')
    const own = mongo ?? local
    const events = remote?.events ?? local?.events
    if (!own || !events || !reads) throw new TypeError('no event store is configured')
    return {
      events,
      keys: own.keys,
      answers: own.answers,
      undelivered: own.undelivered,
      blobs: mongo?.blobs ?? (await embeddedBlobs(blobsPath, space.room('files', blobsPath))),
      views: reads.views,
      snapshots: reads.snapshots,
      leases: reads.leases,
      sharedEvents: remote !== undefined,
      sharedViews: mongo !== undefined,
      laterApart: besideLog && laterApart,
      foreignEvents: remote?.foreignEvents ?? (() => 0),
      damage: () => [...(local?.damage() ?? []), ...(embedded?.damage() ?? [])],
      space,
      renewed: embedded?.renewed ?? NEVER,
    }
  })
