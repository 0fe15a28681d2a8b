import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from '../ports/event-store.ts'
import { recordedCost } from '../turns/resume/recorded-cost.ts'
import { finishForks } from '../workers/finish-forks.ts'
import { recordAccountChanges } from '../workers/record-account-changes.ts'
import { recoverRuns } from '../workers/recover-runs.ts'
import { resumeDecidedRuns } from '../workers/resume-decided-runs.ts'
import type { Parts } from './parts.ts'
import { viewTimeoutMs } from './read-side.ts'
import type { TurnEngine } from './turn-engine.ts'

/** How long the start waits for the views to catch up with the log. */
const caughtUpWithinMs = 60_000
const refoldLookMs = 100

/** Recurring work, and recovery at the start: interrupted work is ended or taken up again. */
export const housekeeping = (
  { host, storage, writing, reading }: Parts,
  { chat, content, knowledge }: TurnEngine,
) => {
  const { clock, node, log } = host
  const { stores, master } = storage
  const { answers, leases, undelivered } = stores
  const { commands } = writing
  const { projecting, rebuildOld, views } = reading
  const { turns, namesOf, orphanRuns, forkSessions, resumeOrClose, warmAgents } = chat
  const orphans = recoverRuns({
    runs: views.runs,
    contents: views.contents,
    accounts: views.accounts,
    endRun: commands.endRun,
    costOf: recordedCost({ read: stores.events.read }),
    settleReservation: commands.settleReservation,
    isLive: turns.isRunning,
    elapsedHere: turns.elapsed,
    stop: (runId) => turns.find(runId)?.cancel(),
    orphanRuns,
    namesOf,
    leases,
    clock,
    node,
    log,
  })

  const unfinishedForks = finishForks({
    forks: views.forks,
    forkSessions,
    leases,
    node,
    log,
  })

  const decidedRuns = resumeDecidedRuns({
    approvals: views.approvals,
    runs: views.runs,
    expireApproval: commands.expireApproval,
    resumeOrClose,
    namesOf,
    waitForPosition: (position) => projecting.waitForPosition(position, viewTimeoutMs),
    clock,
    log,
  })

  const tellOfAccounts = recordAccountChanges({
    accountChanges: views.accountChanges,
    recordAccountChange: commands.recordAccountChange,
    waitForPosition: (position) => projecting.waitForPosition(position, viewTimeoutMs),
    clock,
    log,
  })

  /** `certain`: no other process is running. */
  const sweep = async ({ certain }: { certain: boolean }): Promise<void> => {
    await orphans({ certain })
    await decidedRuns.pass()
    await unfinishedForks({ certain })
    await master.refresh()
    await rebuildOld()
    await answers.sweep(clock.now())
    await undelivered.sweep(clock.now())
    warmAgents.release()
    await content.sweep()
    await knowledge.sweep()
    await tellOfAccounts()
  }

  const recoverOnce = async (): Promise<void> => {
    await projecting.waitForPosition(await stores.events.head(), caughtUpWithinMs)
    await knowledge.recover()
    await sweep({ certain: !stores.sharedEvents })
  }

  /** A start on a full disk serves reads; refused writes are retried once there is space. */
  let isRecoveryDue = false

  const isFull = () => stores.space.state().refused.length > 0

  return {
    /** Denies calls whose time has come. */
    expireApprovals: decidedRuns.expire,
    /**
     * Ends runs whose process has died, deletes expired answers, takes up work that waits, and
     * tells organizations what the platform did to their members.
     */
    async tick(): Promise<void> {
      if (!isRecoveryDue) return sweep({ certain: false })
      await recoverOnce()
      isRecoveryDue = false
    },
    /** Once, before the server listens: ends or takes up the work of a process that has died. */
    async recover(): Promise<void> {
      for (const end = performance.now() + caughtUpWithinMs; ; await pause(refoldLookMs))
        try {
          return await recoverOnce()
        } catch (error) {
          // Views that turn out to be damaged are folded again meanwhile.
          if (error instanceof StoreUnavailable && isFull()) {
            isRecoveryDue = true
            log.warn({}, 'work of an earlier process waits until the disk has space')
            return
          }
          const refolding = stores.damage().some(({ store }) => store === 'read_models')
          if (!(error instanceof StoreUnavailable) || !refolding || performance.now() > end)
            throw error
        }
    },
  }
}
