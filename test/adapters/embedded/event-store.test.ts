import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedEventStore } from '../../../src/adapters/embedded/event-store.ts'
import { openLog } from '../../../src/adapters/embedded/log.ts'
import { eventStoreContract, type OpenStore } from '../../contracts/event-store.ts'

const open: OpenStore = async (t: Test) => {
  const path = join(t.testdir(), 'log')
  const opening = async () => {
    const log = await openLog({ path })
    t.teardown(() => log.close())
    return embeddedEventStore(log)
  }
  const store = await opening()
  const reopen = async () => {
    await store.close()
    return opening()
  }
  return { store, reopen }
}

t.test('the embedded event store', async (t) => eventStoreContract(t, open))
