import { processClock } from '../../support/lease-time.ts'
import { mongoAnswers } from './answers.ts'
import { mongoBlobs } from './blobs.ts'
import { connectMongo } from './connect.ts'
import { mongoKeyStore } from './key-store.ts'
import { mongoLeases } from './leases.ts'
import { mongoSnapshots } from './snapshots.ts'
import { mongoUndeliveredRuns } from './undelivered-runs.ts'
import { mongoViews } from './views.ts'

/** Everything that MongoDB keeps, over one connection pool. @throws TypeError, StoreUnavailable */
export const mongoStores = async (url: string, clock = processClock) => {
  const mongo = await connectMongo(url)
  const leases = mongoLeases(mongo, clock)
  return {
    keys: mongoKeyStore(mongo),
    blobs: mongoBlobs(mongo),
    leases,
    /** A process is alive while it holds the lease `node:<holder>`. */
    answers: mongoAnswers(mongo, {
      isAlive: async (holder) => (await leases.holder(`node:${holder}`)) !== undefined,
    }),
    undelivered: mongoUndeliveredRuns(mongo),
    views: mongoViews(mongo),
    snapshots: mongoSnapshots(mongo),
    close: mongo.close,
  }
}
