import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { connectMongo, type Mongo } from '../../src/adapters/mongodb/connect.ts'

const server = process.env.MONGODB_URL

/** Options of tests that need a MongoDB: without one they are skipped, and say so. */
export const needsMongo = server ? {} : { skip: 'MONGODB_URL is not set' }

/** The URL of a database that no other test has, dropped after this one. */
export const ownDatabase = async (t: Test): Promise<string> => {
  const url = new URL(server ?? '')
  url.pathname = `/reprise_test_${randomUUID().slice(0, 8)}`
  t.teardown(async () => {
    const { db, close } = await connectMongo(url.href)
    await db.dropDatabase()
    await close()
  })
  return url.href
}

/** A connection to a database of its own. */
export const ownMongo = async (t: Test): Promise<Mongo> => {
  const mongo = await connectMongo(await ownDatabase(t))
  t.teardown(() => mongo.close())
  return mongo
}
