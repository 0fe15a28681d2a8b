import t from 'tap'
import { addressOf, waitForStore } from '../../src/app/wait-for-store.ts'
import { StoreDamaged, StoreUnavailable } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'

const quick = { forMs: 40, everyMs: 5 }
const name = 'EventStoreDB at esdb://host:2113'

t.test('a store that comes up is waited for, and said once', async (t) => {
  const warnings: unknown[] = []
  const log = { ...silent, warn: (...line: unknown[]) => warnings.push(line) }
  let tries = 0
  const store = await waitForStore(name, log, { forMs: 60_000, everyMs: 1 }, async () => {
    if (++tries < 4) throw new StoreUnavailable('connection refused')
    return 'open'
  })
  t.equal(store, 'open')
  t.strictSame(warnings, [[{ reason: 'connection refused' }, `waiting for ${name}`]])
})

t.test('a store that does not come up fails with one line', async (t) => {
  const connect = async () => {
    throw new StoreUnavailable('connection refused')
  }
  await t.rejects(waitForStore(name, silent, quick, connect), {
    name: 'StoreUnavailable',
    message: `${name} did not answer within 0.04 s`,
  })
})

t.test('anything else is not waited for', async (t) => {
  let tries = 0
  const connect = async () => {
    tries++
    throw new StoreDamaged('of another format')
  }
  await t.rejects(waitForStore(name, silent, quick, connect), { name: 'StoreDamaged' })
  t.equal(tries, 1)
})

t.test('an address says neither user nor password nor options', async (t) => {
  const addresses: Record<string, string> = {
    'esdb://admin:secret@a:2113,b:2113?tls=true&tlsCAFile=x': 'esdb://a:2113,b:2113',
    'esdb+discover://name:2113': 'esdb+discover://name:2113',
    'mongodb://user:p%40ss@a,b/reprise?replicaSet=x': 'mongodb://a,b/reprise',
  }
  for (const [url, address] of Object.entries(addresses)) t.equal(addressOf(url), address)
})
