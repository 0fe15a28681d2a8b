import type { AnyBulkWriteOperation, Collection, Db, Document, MongoClientOptions } from 'mongodb'
import { StoreUnavailable } from '../../ports/event-store.ts'

/** One connection pool for everything that is kept in one database. */
export type Mongo = {
  db: Db
  /** How many writes may go in one command. */
  bulk: number
  close(): Promise<void>
}

/**
 * FerretDB 1 hangs on a hundred updates in one command. It also checks a condition and writes in
 * two steps, so two nodes must not share one: it stands in for MongoDB in tests and on one node.
 */
const bulkSize = async (db: Db): Promise<number> =>
  'ferretdbVersion' in (await db.command({ buildInfo: 1 })) ? 50 : 1_000

const options: MongoClientOptions = {
  appName: 'reprise',
  ignoreUndefined: true,
  writeConcern: { w: 'majority' },
}

/** Unless the URL says otherwise; the driver would wait for half a minute. */
const patience = {
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  socketTimeoutMS: 60_000,
}

const outOfReach = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
])
/** Not primary, shutting down, a majority that does not answer in time. */
const notNow = new Set<unknown>([64, 89, 91, 189, 10107, 11600, 11602, 13435, 13436])

/** @throws StoreUnavailable where the server is out of reach or not able to write */
export const reaching = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { name, code, message } = error as Error & { code?: unknown }
    if (outOfReach.has(name) || notNow.has(code))
      throw new StoreUnavailable(`MongoDB: ${message}`, { cause: error })
    throw error
  }
}

export const isDuplicate = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 11_000

/** Unordered writes in as few commands as the server takes; answers how many documents matched. */
export const bulkWrite = async <Stored extends Document>(
  collection: Collection<Stored>,
  writes: readonly AnyBulkWriteOperation<Stored>[],
  { bulk }: Pick<Mongo, 'bulk'>,
): Promise<number> => {
  let matched = 0
  for (let n = 0; n < writes.length; n += bulk) {
    const slice = writes.slice(n, n + bulk)
    matched += (await collection.bulkWrite(slice, { ordered: false })).matchedCount
  }
  return matched
}

/** @throws TypeError for a URL without a database name, StoreUnavailable where nothing answers */
export const connectMongo = async (url: string): Promise<Mongo> => {
  if (!/^mongodb(\+srv)?:\/\/[^/]+\/[^/?]/.test(url))
    throw new TypeError('the MongoDB URL must name a database: mongodb://host:27017/reprise')
  const { MongoClient } = await import('mongodb')
  const defaults = Object.entries(patience).filter(([name]) => !url.includes(`${name}=`))
  const client = new MongoClient(url, { ...options, ...Object.fromEntries(defaults) })
  const db = client.db()
  try {
    const bulk = await reaching(() => bulkSize(db))
    return { db, bulk, close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}
