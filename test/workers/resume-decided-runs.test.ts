import t from 'tap'
import type { RunView } from '../../projections/runs.ts'
import { accountStream, decideGrant } from '../../src/domain/account/account.ts'
import { UnreadableEvent } from '../../src/ports/event-store.ts'
import { silent } from '../../src/ports/log.ts'
import { resumeDecidedRuns } from '../../src/workers/resume-decided-runs.ts'
import { commanded } from '../support/commanded.ts'
import { expiresAt, pauseForApproval } from '../support/paused-run.ts'
import { at } from '../support/positions.ts'
import { call } from '../support/recorded.ts'

t.test(
  'runs whose decision has come go on, late calls are denied, and one that fails stops none',
  async (t) => {
    const scene = await commanded(t)
    const { decideOnApproval, seen, read, commands } = scene
    const gift = decideGrant({ grantId: 'first', amount: 1_000_000, reason: 'test' })
    await scene.transact(accountStream('user-1'), gift, call)
    for (const sessionId of ['decided', 'failing', 'waiting'])
      await pauseForApproval(commands)(sessionId, sessionId)
    for (const sessionId of ['decided', 'failing'])
      await decideOnApproval(
        {
          sessionId: sessionId,
          approvalId: `approval of ${sessionId}`,
          decision: 'approve',
          argumentsDigest: 'digest',
          by: 'user-1',
          reason: undefined,
        },
        call,
      )
    await seen()
    let now = new Date(call.at)
    const runIds: string[] = []
    const { pass, expire } = resumeDecidedRuns({
      approvals: read.approvals,
      runs: read.runs,
      expireApproval: commands.expireApproval,
      resumeOrClose: async (run: RunView) => {
        runIds.push(run.run_id)
        if (run.run_id === 'failing') throw new Error('the store is away')
        const from = { node: run.node, attempt: run.attempt ?? 1 }
        const input = { sessionId: run.session_id, runId: run.run_id, from, node: 'node-2' }
        await commands.resumeRun(input, call)
      },
      namesOf: async ({ run_id }) => ({ run_id }),
      waitForPosition: seen,
      clock: { now: () => now, monotonic: () => 0, id: () => '' },
      log: silent,
    })
    await pass()
    t.strictSame(runIds.splice(0).toSorted(), ['decided', 'failing'])
    await seen()
    await pass()
    t.strictSame(runIds.splice(0), ['failing'], 'one that has gone on is left alone')

    now = new Date(Date.parse(expiresAt) - 1)
    await pass()
    runIds.length = 0
    await expire()
    t.strictSame(runIds, [], 'before its time nothing is looked at')
    t.match(await read.approvals.get('approval of waiting'), { status: 'pending' })
    runIds.length = 0
    now = new Date(expiresAt)
    await expire()
    await seen()
    t.match(await read.approvals.get('approval of waiting'), { status: 'expired' })
    t.strictSame(runIds.toSorted(), ['failing', 'waiting'], 'a denial is gone on with at once')
  },
)

t.test('a call that cannot be denied is tried again by the next pass only', async (t) => {
  const scene = await commanded(t)
  const { seen, read, commands } = scene
  const gift = decideGrant({ grantId: 'first', amount: 1_000_000, reason: 'test' })
  await scene.transact(accountStream('user-1'), gift, call)
  await pauseForApproval(commands)('waiting', 'waiting')
  await seen()
  let tried = 0
  let now = new Date(expiresAt)
  const { pass, expire } = resumeDecidedRuns({
    approvals: read.approvals,
    runs: read.runs,
    expireApproval: async () => {
      tried++
      throw new UnreadableEvent(
        { stream: 'session-1', revision: 1, position: at(1), type: 'A' },
        'not JSON',
      )
    },
    resumeOrClose: async () => undefined,
    namesOf: async ({ run_id }) => ({ run_id }),
    waitForPosition: seen,
    clock: { now: () => now, monotonic: () => 0, id: () => '' },
    log: silent,
  })
  for (const _ of [1, 2, 3]) await expire()
  t.equal(tried, 1)
  await pass()
  t.equal(tried, 2)
  now = new Date(0)
  await pauseForApproval(commands)('younger', 'younger')
  await seen()
  t.equal(await expire(), expiresAt, 'the time of other calls is told')
  now = new Date(expiresAt)
  t.equal(await expire(), undefined)
  t.equal(tried, 4, 'and they are tried')
})
