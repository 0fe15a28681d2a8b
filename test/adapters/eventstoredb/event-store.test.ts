import t, { type Test } from 'tap'
import { eventStoreDbEventStore } from '../../../src/adapters/eventstoredb/event-store.ts'
import { eventStoreContract, type OpenedStore } from '../../contracts/event-store.ts'
import { eventStoreDbDouble } from '../../support/eventstoredb-double/double.ts'

const opening =
  (url: string) =>
  async (t: Test): Promise<OpenedStore> => {
    const open = () => {
      const store = eventStoreDbEventStore({ url })
      t.teardown(() => store.close())
      return store
    }
    const store = open()
    return { store, reopen: () => store.close().then(open) }
  }

t.test('EventStoreDB, as its double behaves', async (t) => {
  const double = await eventStoreDbDouble()
  t.teardown(double.stop)
  await t.test('contract', async (t) => eventStoreContract(t, opening(double.url)))
})

const url = process.env.EVENTSTORE_URL
const skip = url ? false : 'EVENTSTORE_URL is not set: nothing was tried on a real server'

t.test('EventStoreDB, a real server', { skip }, async (t) =>
  eventStoreContract(t, opening(url ?? '')),
)
