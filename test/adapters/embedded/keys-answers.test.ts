import { join } from 'node:path'
import t, { type Test } from 'tap'
import { embeddedAnswers } from '../../../src/adapters/embedded/answers.ts'
import { embeddedKeyStore } from '../../../src/adapters/embedded/key-store.ts'
import { embeddedLeases } from '../../../src/adapters/embedded/leases.ts'
import { type EventLog, openLog } from '../../../src/adapters/embedded/log.ts'
import { embeddedUndeliveredRuns } from '../../../src/adapters/embedded/undelivered-runs.ts'
import { answersContract } from '../../contracts/answers.ts'
import { keyStoreContract } from '../../contracts/key-store.ts'
import { undeliveredRunsContract } from '../../contracts/undelivered-runs.ts'

/** A store over a log of its own, which can be opened again. */
const opening = async <Store>(t: Test, over: (log: EventLog) => Store) => {
  const path = join(t.testdir(), 'log')
  let log = await openLog({ path })
  t.teardown(() => log.close())
  const reopen = async () => {
    await log.close()
    log = await openLog({ path })
    return over(log)
  }
  return { store: over(log), reopen }
}

t.test('the embedded key store', async (t) =>
  keyStoreContract(t, async (t) => {
    const { store, reopen } = await opening(t, embeddedKeyStore)
    return { keys: store, reopen }
  }),
)

t.test('the embedded answers', async (t) => {
  answersContract(t, async (t) => {
    const { store, reopen } = await opening(t, embeddedAnswers)
    return { answers: store, reopen }
  })

  t.test('a claim of a dead process is taken over', async (t) => {
    const { store } = await opening(t, embeddedAnswers)
    const noon = new Date('2026-01-01T12:00:00.000Z')
    await store.claim('scope', 'body', 'before', noon)
    t.strictSame(await store.claim('scope', 'other', 'now', noon), { state: 'reused' })
    const claim = () => store.claim('scope', 'body', 'now', noon)
    t.strictSame(await claim(), { state: 'claimed', takenOver: true })
    t.strictSame(await claim(), { state: 'running' })
  })

  t.test('a sweep goes through more than one page', async (t) => {
    const { store } = await opening(t, embeddedAnswers)
    const day = (n: number) => new Date(Date.UTC(2026, 0, n))
    const scopes = Array.from({ length: 900 }, (_, n) => `scope-${n}`)
    await Promise.all(scopes.map((scope, n) => store.claim(scope, 'body', 'me', day(1 + (n % 3)))))
    t.equal(await store.sweep(day(3)), 600)
    t.equal(await store.sweep(day(3)), 0)
    t.equal(await store.sweep(day(4)), 300)
  })
})

t.test('the embedded undelivered runs', async (t) => {
  undeliveredRunsContract(t, async (t) => {
    const { store, reopen } = await opening(t, embeddedUndeliveredRuns)
    return { runs: store, reopen }
  })

  t.test('delivered runs are removed from disk with a later write', async (t) => {
    let onDisk = (): number => 0
    const { store, reopen } = await opening(t, (log) => {
      onDisk = () => log.look(() => [...log.undelivered.getKeys({})].length)
      return embeddedUndeliveredRuns(log)
    })
    const holder = { node: 'node-1', request: 1 }
    const at = Date.parse('2026-01-01T12:00:00.000Z')
    const run = { sessionId: 's', messageId: 'm', fingerprint: 'f', at, early: false }
    await store.add({ ...run, runId: 'run-1', early: true }, holder)
    t.equal(onDisk(), 0, 'what is answered early is not stored')
    await store.add({ ...run, runId: 'run-2' }, holder)
    await store.remove('run-2', holder)
    t.equal(onDisk(), 1)
    await store.add({ ...run, runId: 'run-3' }, holder)
    t.equal(onDisk(), 1)
    await store.remove('run-3', holder)
    await store.sweep(new Date(at))
    t.equal(onDisk(), 0)
    await store.add({ ...run, runId: 'run-4' }, holder)
    const next = await reopen()
    await next.sweep(new Date(at + 600_000))
    t.equal(onDisk(), 0, 'those of an earlier process once they are over')
  })
})

t.test('the embedded leases', async (t) => {
  let now = 0
  const leases = embeddedLeases({ now: () => new Date(0), monotonic: () => now })
  t.ok(await leases.acquire('project', 'a', 100))
  t.notOk(await leases.acquire('project', 'b', 100))
  now = 99
  t.ok(await leases.acquire('project', 'a', 100), 'renewed')
  now = 198
  t.equal(await leases.holder('project'), 'a')
  now = 199
  t.equal(await leases.holder('project'), undefined)
  t.ok(await leases.acquire('project', 'b', 100), 'run out')
  await leases.release('project', 'a')
  t.equal(await leases.holder('project'), 'b')
  await leases.release('project', 'b')
  t.equal(await leases.holder('project'), undefined)
})
