import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import {
  claimableMs,
  type UndeliveredRun,
  type UndeliveredRuns,
} from '../../src/ports/undelivered-runs.ts'

/** `reopen` opens the same data as the next process does, where an adapter can. */
type OpenRuns = (
  t: Test,
) => Promise<{ runs: UndeliveredRuns; reopen?: () => Promise<UndeliveredRuns> }>

const noon = new Date('2026-01-01T12:00:00.000Z')
const after = (ms: number) => new Date(noon.getTime() + ms)
const first = { node: 'node-1', request: 1 }
const second = { node: 'node-1', request: 2 }
const third = { node: 'node-2', request: 1 }

const runOf = (more: Partial<UndeliveredRun> = {}): UndeliveredRun => ({
  runId: randomUUID(),
  sessionId: 'session-1',
  messageId: 'message-1',
  fingerprint: randomUUID(),
  at: noon.getTime(),
  early: false,
  ...more,
})

/** What every store of undelivered runs owes its callers. */
export const undeliveredRunsContract = (
  t: Test,
  open: OpenRuns,
  /** Options of the test of claims at once. */
  atOnce: { skip?: string } = {},
): void => {
  t.test('a released run can be claimed once', async (t) => {
    const { runs } = await open(t)
    const run = runOf()
    const { fingerprint, runId } = run
    t.strictSame(await runs.claim(fingerprint, second, noon), { heldByOthers: [] })
    await runs.add(run, first)
    const heldByOthers = [{ runId, node: 'node-1' }]
    t.strictSame(await runs.claim(fingerprint, second, noon), { heldByOthers })
    await runs.release(runId, first)
    t.strictSame(await runs.claim('another', second, noon), { heldByOthers: [] })
    t.strictSame(await runs.claim(fingerprint, second, noon), { run })
    t.match(await runs.claim(fingerprint, third, noon), { heldByOthers })
  })

  t.test('exactly one of many concurrent claims gets the run', atOnce, async (t) => {
    const { runs } = await open(t)
    const run = runOf()
    await runs.add(run, first)
    await runs.release(run.runId, first)
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, request) =>
        runs.claim(run.fingerprint, { node: 'node-2', request }, noon),
      ),
    )
    const claimed = claims.filter((claim) => 'run' in claim)
    t.strictSame(claimed, [{ run }])
  })

  t.test('a delivered run cannot be claimed', async (t) => {
    const { runs } = await open(t)
    const run = runOf()
    await runs.add(run, first)
    await runs.remove(run.runId, first)
    await runs.release(run.runId, first)
    t.strictSame(await runs.claim(run.fingerprint, second, noon), { heldByOthers: [] })
  })

  t.test('identical requests claim different runs, the oldest first', async (t) => {
    const { runs } = await open(t)
    const old = runOf()
    const { fingerprint } = old
    const young = runOf({ fingerprint, sessionId: 'session-2', at: noon.getTime() + 1 })
    await runs.add(old, first)
    await runs.add(young, second)
    await runs.release(young.runId, second)
    await runs.release(old.runId, first)
    t.strictSame(await runs.claim(fingerprint, third, after(2)), { run: old })
    t.strictSame(await runs.claim(fingerprint, first, after(2)), { run: young })
    t.match(await runs.claim(fingerprint, second, after(2)), { heldByOthers: { length: 2 } })
  })

  t.test('only its holder releases or removes a run', async (t) => {
    const { runs } = await open(t)
    const run = runOf()
    const { runId, fingerprint } = run
    await runs.add(run, first)
    await runs.release(runId, second)
    await runs.remove(runId, third)
    t.match(await runs.claim(fingerprint, third, noon), { heldByOthers: [{ runId }] })
    await runs.release(runId, first)
    t.match(await runs.claim(fingerprint, third, noon), { run })
    await runs.release(runId, first)
    await runs.remove(runId, first)
    t.match(await runs.claim(fingerprint, second, noon), {
      heldByOthers: [{ runId, node: 'node-2' }],
    })
  })

  t.test('a run of a process that died is released, one answered early is removed', async (t) => {
    const { runs } = await open(t)
    const run = runOf()
    const early = runOf({ early: true })
    await runs.add(run, first)
    await runs.add(early, second)
    for (const { runId } of [run, early]) {
      await runs.abandon(runId, 'node-2')
      await runs.abandon(runId, 'node-1')
    }
    t.strictSame(await runs.claim(early.fingerprint, third, noon), { heldByOthers: [] })
    t.strictSame(await runs.claim(run.fingerprint, third, noon), { run })
    await runs.abandon(run.runId, 'node-1')
    const heldByOthers = [{ runId: run.runId, node: 'node-2' }]
    t.strictSame(
      await runs.claim(run.fingerprint, first, noon),
      { heldByOthers },
      'nor is it taken away',
    )
    await t.resolves(runs.abandon(randomUUID(), 'node-1'))
  })

  t.test('a run can be claimed for ten minutes after its first request', async (t) => {
    const { runs } = await open(t)
    const [late, over] = [runOf(), runOf()]
    for (const run of [late, over]) {
      await runs.add(run, first)
      await runs.release(run.runId, first)
    }
    t.match(await runs.claim(late.fingerprint, third, after(claimableMs - 1)), { run: late })
    t.strictSame(await runs.claim(over.fingerprint, third, after(claimableMs)), {
      heldByOthers: [],
    })
    t.ok((await runs.sweep(after(claimableMs))) >= 2)
    t.strictSame(await runs.claim(over.fingerprint, third, noon), { heldByOthers: [] })
  })

  t.test(
    'after a restart a run is claimed only once it is known to have been cut off',
    async (t) => {
      const { runs, reopen } = await open(t)
      if (!reopen) return t.pass('the store outlives its processes')
      const [delivered, cutOff, released] = [runOf(), runOf(), runOf()]
      for (const run of [delivered, cutOff, released]) await runs.add(run, first)
      await runs.remove(delivered.runId, first)
      await runs.release(released.runId, first)
      const next = await reopen()
      for (const { fingerprint, runId } of [cutOff, released])
        t.strictSame(await next.claim(fingerprint, third, noon), {
          heldByOthers: [{ runId, node: 'node-1' }],
        })
      await next.abandon(cutOff.runId, 'node-9')
      t.strictSame(await next.claim(cutOff.fingerprint, third, noon), { run: cutOff })
      return undefined
    },
  )
}
