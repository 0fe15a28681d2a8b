import t, { type Test } from 'tap'
import { reservationsIn } from '../../projections/accounts.ts'
import { accountStream, decideReserve } from '../../src/domain/account/account.ts'
import { openRuns } from '../../src/domain/account/reservations.ts'
import type { SessionEvent } from '../../src/domain/session/events.ts'
import { decideRecord } from '../../src/domain/session/runs.ts'
import { sessionStream } from '../../src/domain/session/session.ts'
import { findRequestId } from '../../src/event-sourcing/find-request-id.ts'
import { START } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { closeRun, runNames } from '../../src/turns/resume/close-run.ts'
import { recordedCost } from '../../src/turns/resume/recorded-cost.ts'
import { resumeOrClose } from '../../src/turns/resume/resume-or-close.ts'
import { NotResumable } from '../../src/turns/resume/take-run.ts'
import { nodeLease } from '../../src/workers/node-lease.ts'
import { recoverRuns } from '../../src/workers/recover-runs.ts'
import { mostLookedAt } from '../../src/workers/release-reservations.ts'
import { commanded } from '../support/commanded.ts'
import { gathered } from '../support/noted.ts'
import { call } from '../support/recorded.ts'

const sessionId = 'session-1'
const payerId = 'user-1'

/** A run of the process `theirs`, its message stored, 1,000 micro-credits held for it. */
const withRun = async (t: Test) => {
  const scene = await commanded(t)
  const { sendMessage, clock, read, leases } = scene
  let ahead = 0
  const live = new Set<string>()
  /** For how long each run has been under way here. */
  const elapsed = new Map<string, number>()
  /** What was asked whether it is live. */
  const looked = new Set<string>()
  const stopped: string[] = []
  const resumable = new Set<string>()
  const resumed: string[] = []
  const abandoned: string[] = []
  const resume = async ({ run_id }: { run_id: string }) => {
    if (!resumable.has(run_id)) throw new NotResumable('the agent is gone')
    resumed.push(run_id)
  }
  const namesOf = runNames(findRequestId({ read: scene.store.read }))
  const costOf = recordedCost({ read: scene.store.read })
  const { endRun } = scene
  const resumeRun = resumeOrClose({
    resume,
    closeRun: closeRun({
      endRun,
      costOf,
      abandonRun: async ({ run_id }) => {
        abandoned.push(run_id)
      },
      namesOf,
      clock,
      log: silent,
    }),
    namesOf,
    log: silent,
  })
  const orphans = recoverRuns({
    ...scene,
    ...read,
    clock: { ...clock, now: () => new Date(clock.now().getTime() + ahead) },
    node: 'ours',
    isLive: (runId) => {
      looked.add(runId)
      return live.has(runId)
    },
    elapsedHere: (runId) => elapsed.get(runId),
    stop: (runId) => stopped.push(runId),
    costOf,
    orphanRuns: {
      async resume(runs, each = (_, work) => work()) {
        for (const run of runs) await each(run, () => resumeRun(run))
      },
    },
    namesOf,
    log: silent,
  })
  await leases.acquire(nodeLease('theirs'), 'theirs', 60_000)
  const beginRun = (runId: string, node: string) =>
    sendMessage(
      {
        sessionId,
        viewer: { userId: 'user-1', onlyKeyId: null },
        keyId: 'key-1',
        hidden: undefined,
        messageId: `message of ${runId}`,
        runId,
        seal: async () => ({ content: { $sealed: 'session:org-1/session-1', box: '' } }),
        agentId: 'agent-1',
        agent: 'Orchestrator',
        node,
        payerId,
        reserve: 1_000,
      },
      call,
    )
  const tick = async (certain = false) => {
    await scene.seen()
    await orphans({ certain })
    await scene.seen()
  }
  return {
    ...scene,
    beginRun,
    tick,
    /** A model's answer is recorded: 15 tokens, at 2 micro-credits. */
    recordAnswer: (runId: string, at: string) => {
      const data: SessionEvent<'ModelAnswered'>['data'] = {
        runId,
        at,
        agent: 'Orchestrator',
        model: 'test/model',
        price: { prompt: 2, completion: 2 },
        promptTokens: 10,
        completionTokens: 5,
        finishReason: 'stop',
        text: { $sealed: 'session:org-1/session-1', box: '' },
      }
      const steps = [{ type: 'ModelAnswered' as const, data }]
      return scene.recordSteps({ sessionId, runId, steps }, call)
    },
    /** What has been charged, in micro-credits. */
    spent: async () => {
      const events = await gathered(scene.store.history(START))
      return events
        .filter(({ type }) => type === 'CreditsSettled')
        .reduce((sum, { data }) => sum + Number((data as { amount: number }).amount), 0)
    },
    live,
    elapsed,
    looked,
    stopped,
    resumable,
    resumed,
    abandoned,
    advance: (ms: number) => {
      ahead += ms
    },
    statusOf: async (runId: string) => {
      const run = await read.runs.get(runId)
      return run?.error_code ?? run?.status
    },
    held: async () => {
      const account = await read.accounts.get(payerId)
      return account ? openRuns(reservationsIn(account)) : []
    },
  }
}

t.test('a run of a process that lives is left alone', async (t) => {
  const { beginRun, tick, statusOf, held } = await withRun(t)
  await beginRun('run-1', 'theirs')
  await tick()
  await tick()
  t.equal(await statusOf('run-1'), 'running')
  t.strictSame(await held(), ['run-1'])
})

t.test('a run whose process has died is interrupted, and its credits are given back', async (t) => {
  const { beginRun, tick, statusOf, held, leases, abandoned } = await withRun(t)
  await beginRun('run-1', 'theirs')
  await leases.release(nodeLease('theirs'), 'theirs')
  await tick()
  t.equal(await statusOf('run-1'), 'interrupted')
  t.strictSame(await held(), [])
  t.strictSame(abandoned, ['run-1'], 'a retry may claim it')
})

t.test(
  'a run that is closed for its process is charged for the answers that are recorded',
  async (t) => {
    const { beginRun, tick, spent, recordAnswer, leases } = await withRun(t)
    await beginRun('run-1', 'theirs')
    await recordAnswer('run-1', '0/0')
    await recordAnswer('run-1', '0/1')
    await leases.release(nodeLease('theirs'), 'theirs')
    await tick()
    t.equal(await spent(), 60)
  },
)

t.test('a resumable run keeps its credits, and is not closed', async (t) => {
  const { beginRun, tick, statusOf, held, resumable, resumed } = await withRun(t)
  await beginRun('run-1', 'theirs')
  resumable.add('run-1')
  await tick(true)
  await tick(true)
  t.equal(await statusOf('run-1'), 'running')
  t.strictSame(resumed, ['run-1', 'run-1'], 'until it is seen to be another process’s')
  t.strictSame(await held(), ['run-1'])
})

t.test('at the start of the only process, whatever signs of life others left', async (t) => {
  const { beginRun, tick, statusOf, held } = await withRun(t)
  await beginRun('run-1', 'theirs')
  await tick(true)
  t.equal(await statusOf('run-1'), 'interrupted')
  t.strictSame(await held(), [])
})

t.test('a run of this process, under way or lost', async (t) => {
  const { beginRun, tick, statusOf, live } = await withRun(t)
  await beginRun('run-1', 'ours')
  live.add('run-1')
  await tick()
  t.equal(await statusOf('run-1'), 'running')
  live.clear()
  await tick()
  t.equal(await statusOf('run-1'), 'interrupted')
})

t.test('a run of this process times out after 30 minutes', async (t) => {
  const { beginRun, tick, statusOf, live, elapsed, stopped, held } = await withRun(t)
  await beginRun('run-1', 'ours')
  live.add('run-1')
  elapsed.set('run-1', 29 * 60_000)
  await tick()
  t.equal(await statusOf('run-1'), 'running')
  elapsed.set('run-1', 30 * 60_000)
  await tick()
  t.equal(await statusOf('run-1'), 'timed_out')
  t.strictSame(stopped, ['run-1'])
  t.strictSame(await held(), [])
})

t.test('a clock put forward by an hour times out no run that a process has', async (t) => {
  const { beginRun, tick, statusOf, live, elapsed, advance, stopped } = await withRun(t)
  await beginRun('run-1', 'ours')
  live.add('run-1')
  elapsed.set('run-1', 1_000)
  advance(60 * 60_000)
  await tick()
  t.equal(await statusOf('run-1'), 'running')
  t.strictSame(stopped, [])
})

t.test('another process times its own run', async (t) => {
  const { beginRun, tick, statusOf, advance } = await withRun(t)
  await beginRun('run-1', 'theirs')
  advance(60 * 60_000)
  await tick()
  t.equal(await statusOf('run-1'), 'running')
})

t.test('a run whose process has died times out 30 minutes after it began', async (t) => {
  const { beginRun, tick, statusOf, resumable, advance, leases } = await withRun(t)
  await beginRun('run-1', 'theirs')
  resumable.add('run-1')
  await leases.release(nodeLease('theirs'), 'theirs')
  advance(30 * 60_000)
  await tick()
  t.equal(await statusOf('run-1'), 'timed_out')
})

t.test(
  'a run whose process has died goes on where the clock is behind its beginning',
  async (t) => {
    const { beginRun, tick, statusOf, resumable, resumed, advance, leases } = await withRun(t)
    await beginRun('run-1', 'theirs')
    resumable.add('run-1')
    await leases.release(nodeLease('theirs'), 'theirs')
    advance(-60 * 60_000)
    await tick()
    t.equal(await statusOf('run-1'), 'running')
    t.strictSame(resumed, ['run-1'])
  },
)

t.test('credits that were held for a run that never began: found twice, given back', async (t) => {
  const { tick, held, transact } = await withRun(t)
  await transact(accountStream(payerId), decideReserve({ runId: 'run-9', amount: 1 }), call)
  await tick()
  t.strictSame(await held(), ['run-9'], 'it may be beginning')
  await tick()
  t.strictSame(await held(), [])
})

t.test('many reservations are looked at in turn, some in each pass', async (t) => {
  const { tick, held, transact, live, looked } = await withRun(t)
  const hold = (runId: string) =>
    transact(accountStream(payerId), decideReserve({ runId, amount: 0 }), call)
  const waiting = Array.from({ length: mostLookedAt }, (_, n) => `run-of-${n}`)
  await Promise.all(waiting.map(hold))
  for (const runId of waiting) live.add(runId)
  await hold('run-lost')
  await tick()
  t.equal(looked.size, mostLookedAt, 'no more in one pass')
  await tick()
  t.ok(looked.has('run-lost'), 'the next pass goes on behind them')
  t.equal((await held()).length, mostLookedAt + 1, 'found once')
  await tick()
  await tick()
  t.strictSame((await held()).toSorted(), waiting.toSorted(), 'found in two rounds')
})

t.test('a run that ended and was not settled is charged', async (t) => {
  const { beginRun, tick, held, transact, read, store } = await withRun(t)
  await beginRun('run-1', 'theirs')
  const cost = { promptTokens: 1, completionTokens: 1, charge: 30 }
  const end: SessionEvent = { type: 'RunCancelled', data: { runId: 'run-1', ...cost } }
  await transact(sessionStream(call.organizationId, sessionId), decideRecord('run-1', [end]), call)
  await tick(true)
  t.strictSame(await held(), [])
  t.equal((await read.accounts.get(payerId))?.balance, -30)
  const events = await gathered(store.read(accountStream(payerId).name))
  t.match(
    events.at(-1),
    { type: 'CreditsSettled', metadata: { organization_id: call.organizationId } },
    'in the history of the organization that reserved',
  )
})
