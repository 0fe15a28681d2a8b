import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { eventStoreDbDouble } from './eventstoredb-double/double.ts'
import { ownDatabase } from './mongo.ts'
import { startServer } from './server.ts'

/** Two servers on the same databases: the EventStoreDB double and a MongoDB for this test. */
export const startNodes = async (t: Test, env: Record<string, string> = {}) => {
  const store = await eventStoreDbDouble()
  t.teardown(store.stop)
  const shared = {
    EVENTSTORE_URL: store.url,
    MONGODB_URL: await ownDatabase(t),
    MASTER_KEY: randomBytes(32).toString('base64'),
    ...env,
  }
  const first = await startServer(t, shared)
  return { store, first, second: await startServer(t, shared) }
}
