import type { Db, MongoClientOptions } from 'mongodb'
import { StoreUnavailable } from '../../ports/event-store.ts'

/** One connection pool for everything that is kept in one database. */
export type Mongo = { db: Db; close(): Promise<void> }

const options: MongoClientOptions = {
  appName: 'reprise',
  ignoreUndefined: true,
  writeConcern: { w: 'majority' },
}

/** Unless the URL says otherwise; the driver waits for half a minute. */
const timeouts = {
  serverSelectionTimeoutMS: 5_000,
  connectTimeoutMS: 5_000,
  socketTimeoutMS: 60_000,
}

const connectionErrors = new Set([
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoServerSelectionError',
  'MongoNotConnectedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
])
/** Codes of a server that cannot write now: not primary, shutting down, no majority in time. */
const unableToWrite = new Set<unknown>([64, 89, 91, 189, 10107, 11600, 11602, 13435, 13436])

/** Runs a command. @throws StoreUnavailable when the server is out of reach or cannot write now */
export const reaching = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    const { name, code, message } = error as Error & { code?: unknown }
    if (connectionErrors.has(name) || unableToWrite.has(code))
      throw new StoreUnavailable(`MongoDB: ${message}`, { cause: error })
    throw error
  }
}

export const isDuplicate = (error: unknown): boolean =>
  (error as { code?: unknown } | null)?.code === 11_000

/** @throws TypeError for a URL without a database name, StoreUnavailable when no server answers */
export const connectMongo = async (url: string): Promise<Mongo> => {
  if (!/^mongodb(\+srv)?:\/\/[^/]+\/[^/?]/.test(url))
    throw new TypeError('the MongoDB URL must name a database: mongodb://host:27017/reprise')
  const { MongoClient } = await import('mongodb')
  const defaults = Object.entries(timeouts).filter(([name]) => !url.includes(`${name}=`))
  const client = new MongoClient(url, { ...options, ...Object.fromEntries(defaults) })
  const db = client.db()
  try {
    await reaching(() => db.command({ ping: 1 }))
    return { db, close: () => client.close() }
  } catch (error) {
    await client.close()
    throw error
  }
}
