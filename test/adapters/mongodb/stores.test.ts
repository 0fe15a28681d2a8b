import t from 'tap'
import { mongoAnswers } from '../../../src/adapters/mongodb/answers.ts'
import { mongoBlobs } from '../../../src/adapters/mongodb/blobs.ts'
import { connectMongo } from '../../../src/adapters/mongodb/connect.ts'
import { mongoKeyStore } from '../../../src/adapters/mongodb/key-store.ts'
import { mongoLeases } from '../../../src/adapters/mongodb/leases.ts'
import { mongoSnapshots } from '../../../src/adapters/mongodb/snapshots.ts'
import { mongoStores } from '../../../src/adapters/mongodb/stores.ts'
import { mongoUndeliveredRuns } from '../../../src/adapters/mongodb/undelivered-runs.ts'
import { StoreUnavailable } from '../../../src/ports/event-store.ts'
import { answersContract } from '../../contracts/answers.ts'
import { blobsContract } from '../../contracts/blobs.ts'
import { keyStoreContract } from '../../contracts/key-store.ts'
import { leasesContract } from '../../contracts/leases.ts'
import { snapshotsContract } from '../../contracts/snapshots.ts'
import { undeliveredRunsContract } from '../../contracts/undelivered-runs.ts'
import { needsMongo, needsRealMongo, ownDatabase, ownMongo } from '../../support/mongo.ts'

const nobody = { isAlive: async () => false }

t.test('MongoDB keys', needsMongo, async (t) => {
  keyStoreContract(
    t,
    async (t) => {
      const mongo = await ownMongo(t)
      return { keys: mongoKeyStore(mongo), reopen: async () => mongoKeyStore(mongo) }
    },
    needsRealMongo('does not compare and write a document in one step'),
  )
})

t.test('MongoDB answers', needsMongo, async (t) => {
  answersContract(t, async (t) => {
    const mongo = await ownMongo(t)
    return {
      answers: mongoAnswers(mongo, nobody),
      reopen: async () => mongoAnswers(mongo, nobody),
    }
  })
})

t.test('MongoDB undelivered runs', needsMongo, async (t) => {
  undeliveredRunsContract(
    t,
    async (t) => ({ runs: mongoUndeliveredRuns(await ownMongo(t)) }),
    needsRealMongo('does not compare and write a document in one step'),
  )
})

t.test('MongoDB blobs', needsMongo, async (t) => {
  blobsContract(t, async (t) => {
    const mongo = await ownMongo(t)
    return { blobs: mongoBlobs(mongo), reopen: async () => mongoBlobs(mongo) }
  })
})

t.test('MongoDB snapshots', needsMongo, async (t) => {
  snapshotsContract(t, async (t) => mongoSnapshots(await ownMongo(t)))
})

t.test('MongoDB leases', needsMongo, async (t) => {
  leasesContract(t, async (t) => {
    const mongo = await ownMongo(t)
    return async () => mongoLeases(mongo)
  })
})

t.test(
  'a dead holder’s lease ends though the clock of MongoDB was set back',
  needsMongo,
  async (t) => {
    const mongo = await ownMongo(t)
    let passed = 0
    const leases = mongoLeases(mongo, { now: () => new Date(0), monotonic: () => passed })
    const until = new Date(Date.now() + 3_600_000)
    await mongo.db
      .collection<{ _id: string; holder: string; until: Date; ttlMs: number }>('reprise_leases')
      .insertOne({ _id: 'projector', holder: 'dead', until, ttlMs: 8_000 })
    t.equal(await leases.acquire('projector', 'a', 8_000), false)
    t.equal(await leases.holder('projector'), 'dead')
    passed = 8_000
    t.equal(await leases.holder('projector'), undefined)
    t.equal(await leases.acquire('projector', 'a', 8_000), true)
    t.equal(await leases.holder('projector'), 'a')
  },
)

t.test('a claim is taken over once its holder has died', needsMongo, async (t) => {
  const stores = await mongoStores(await ownDatabase(t))
  t.teardown(() => stores.close())
  const now = new Date('2026-01-01T12:00:00.000Z')
  const claim = (holder: string) => stores.answers.claim('key-1 POST /x', 'body', holder, now)
  await stores.leases.acquire('node:a', 'a', 60_000)
  t.strictSame(await claim('a'), { state: 'claimed' })
  t.strictSame(await claim('b'), { state: 'running' })
  await stores.leases.release('node:a', 'a')
  t.strictSame(await claim('b'), { state: 'claimed', takenOver: true })
  t.strictSame(await claim('b'), { state: 'running' })
})

t.test('a URL must name a database, and a server must answer', async (t) => {
  await t.rejects(connectMongo('mongodb://127.0.0.1:27017'), TypeError)
  const nowhere = 'mongodb://127.0.0.1:1/reprise?serverSelectionTimeoutMS=200'
  await t.rejects(connectMongo(nowhere), StoreUnavailable)
})
