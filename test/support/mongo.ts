import { randomUUID } from 'node:crypto'
import { MongoClient } from 'mongodb'
import type { Test } from 'tap'
import { connectMongo, type Mongo } from '../../src/adapters/mongodb/connect.ts'
import { ferretdbProxy } from './ferretdb-proxy.ts'

const server = process.env.MONGODB_URL

const isFerretdb = async (url: string): Promise<boolean> => {
  const client = new MongoClient(url)
  try {
    return 'ferretdbVersion' in (await client.db().command({ buildInfo: 1 }))
  } finally {
    await client.close()
  }
}

const ferretdb = server !== undefined && (await isFerretdb(server))
const reached = server !== undefined && ferretdb ? await ferretdbProxy(server) : server

/** Options of tests that need a MongoDB: skipped, with the reason, where there is none. */
export const needsMongo = server ? {} : { skip: 'MONGODB_URL is not set' }

/** Options of tests of what FerretDB lacks, or does otherwise than MongoDB. */
export const needsRealMongo = (what: string) =>
  ferretdb ? { skip: `FerretDB 1 ${what}` } : needsMongo

/** The URL of a database that no other test has, dropped after this one. */
export const ownDatabase = async (t: Test): Promise<string> => {
  const url = new URL(reached ?? '')
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
