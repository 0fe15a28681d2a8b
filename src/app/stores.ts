import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedAnswers } from '../adapters/embedded/answers.ts'
import { embeddedBlobs } from '../adapters/embedded/blobs.ts'
import { embeddedEventStore } from '../adapters/embedded/event-store.ts'
import { embeddedKeyStore } from '../adapters/embedded/key-store.ts'
import { embeddedLeases } from '../adapters/embedded/leases.ts'
import { openLog } from '../adapters/embedded/log.ts'
import { embeddedSnapshots } from '../adapters/embedded/snapshots.ts'
import { embeddedViews } from '../adapters/embedded/views.ts'
import { openViewsEnv } from '../adapters/embedded/views-env.ts'
import type { Config } from '../config.ts'
import type { Answers } from '../ports/answers.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { KeyStore } from '../ports/keys.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { Views } from '../ports/views.ts'

/** Everything that outlives the process, behind its ports. */
export type Stores = {
  events: EventStore
  keys: KeyStore
  answers: Answers
  blobs: Blobs
  views: Views
  snapshots: Snapshots
  leases: Leases
  /** Other processes append to the same events. */
  sharedEvents: boolean
  /** Other processes read the same views, and one of them projects. */
  sharedViews: boolean
  close(): Promise<void>
}

type Where = Pick<Config, 'DATA_DIR' | 'EVENTSTORE_URL' | 'MONGODB_URL'>

/** Events, keys and first answers in DATA_DIR. @throws StoreInUse, StoreDamaged */
const embeddedLog = async (path: string) => {
  const log = await openLog({ path })
  return {
    events: embeddedEventStore(log),
    keys: embeddedKeyStore(log),
    answers: embeddedAnswers(log),
    close: () => log.close(),
  }
}

/** Views and snapshots in DATA_DIR; they start empty where they cannot be trusted. */
const embeddedReads = async (path: string, log: Log) => {
  const env = await openViewsEnv({ path })
  if (env.startedEmpty)
    log.warn({ path, reason: env.startedEmpty }, 'the views are folded again from the log')
  const views = embeddedViews(env)
  return {
    views,
    snapshots: embeddedSnapshots(env),
    leases: embeddedLeases(),
    close: () => views.close(),
  }
}

/** Opens what the configuration names; clients of databases are loaded only where one is. */
export const openStores = async (config: Where, log: Log): Promise<Stores> => {
  const { DATA_DIR, EVENTSTORE_URL, MONGODB_URL } = config
  await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
  const closing: (() => Promise<void>)[] = []
  const opened = <Part extends { close(): Promise<void> }>(part: Part): Part => {
    closing.unshift(() => part.close())
    return part
  }
  const mongo = MONGODB_URL
    ? opened(await (await import('../adapters/mongodb/stores.ts')).mongoStores(MONGODB_URL))
    : undefined
  const local =
    EVENTSTORE_URL && mongo ? undefined : opened(await embeddedLog(join(DATA_DIR, 'log')))
  const remote = EVENTSTORE_URL
    ? opened(
        (await import('../adapters/eventstoredb/event-store.ts')).eventStoreDbEventStore({
          url: EVENTSTORE_URL,
          onDropped: (err) => log.warn({ err }, 'the subscription to EventStoreDB was dropped'),
        }),
      )
    : undefined
  const reads = mongo ?? opened(await embeddedReads(join(DATA_DIR, 'views'), log))
  const blobs = mongo?.blobs ?? (await embeddedBlobs(join(DATA_DIR, 'blobs')))
  const own = mongo ?? local
  const events = remote ?? local?.events
  if (!own || !events) throw new TypeError('no event store is configured')
  return {
    events,
    keys: own.keys,
    answers: own.answers,
    blobs,
    views: reads.views,
    snapshots: reads.snapshots,
    leases: reads.leases,
    sharedEvents: remote !== undefined,
    sharedViews: mongo !== undefined,
    async close() {
      for (const close of closing) await close()
    },
  }
}

/** MASTER_KEY, else the one in DATA_DIR, made at the first start and readable by its owner only. */
export const masterKeyOf = async ({ MASTER_KEY, DATA_DIR }: Config): Promise<Uint8Array> => {
  if (MASTER_KEY) return MASTER_KEY
  const path = join(DATA_DIR, 'master.key')
  await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
  try {
    const made = randomBytes(32)
    await writeFile(path, made.toString('base64'), { flag: 'wx', mode: 0o600, flush: true })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return Buffer.from(await readFile(path, 'utf8'), 'base64')
  }
}
