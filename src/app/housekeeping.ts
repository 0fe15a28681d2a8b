import { setTimeout as pause } from 'node:timers/promises'
import type { Answers } from '../ports/answers.ts'
import type { Clock } from '../ports/clock.ts'
import { StoreUnavailable } from '../ports/event-store.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { UndeliveredRuns } from '../ports/undelivered-runs.ts'
import type { Projector } from '../projector/projector.ts'
import type { WarmAgents } from '../turns/begin/warm-agents.ts'
import type { ForkSessions } from '../turns/fork/fork-sessions.ts'
import type { RunNames } from '../turns/resume/close-run.ts'
import type { OrphanRuns } from '../turns/resume/orphan-runs.ts'
import { recordedCost } from '../turns/resume/recorded-cost.ts'
import type { ResumeOrClose } from '../turns/resume/resume-or-close.ts'
import type { Turns } from '../turns/run/turns.ts'
import { finishForks } from '../workers/finish-forks.ts'
import { recordAccountChanges } from '../workers/record-account-changes.ts'
import { recoverRuns } from '../workers/recover-runs.ts'
import { resumeDecidedRuns } from '../workers/resume-decided-runs.ts'
import type { Commands } from './commands.ts'
import type { AllViews } from './read-models.ts'
import { shownWithinMs } from './read-side.ts'
import type { Stores } from './stores.ts'

type Uses = {
  commands: Pick<
    Commands,
    'endRun' | 'expireApproval' | 'recordAccountChange' | 'settleReservation'
  >
  views: Pick<AllViews, 'accountChanges' | 'accounts' | 'approvals' | 'contents' | 'forks' | 'runs'>
  stores: Pick<Stores, 'events' | 'sharedEvents' | 'damage' | 'space'>
  projecting: Pick<Projector, 'waitForPosition'>
  turns: Pick<Turns, 'elapsed' | 'find' | 'isRunning'>
  resumeOrClose: ResumeOrClose
  orphanRuns: Pick<OrphanRuns, 'resume'>
  namesOf: RunNames
  forkSessions: ForkSessions
  warmAgents: Pick<WarmAgents, 'release'>
  answers: Pick<Answers, 'sweep'>
  undelivered: Pick<UndeliveredRuns, 'sweep'>
  content: { sweep(): Promise<void> }
  knowledge: { sweep(): Promise<void>; recover(): Promise<void> }
  leases: Leases
  /** Begins to rebuild read models that an earlier release has folded. */
  rebuildOld(): Promise<void>
  /** Where another process may rotate the master key. */
  refreshMasterKeys(): Promise<void>
  clock: Clock
  /** Identifies this process until it ends. */
  node: string
  log: Log
}

/** How long the start waits for the views to catch up with the log. */
const caughtUpWithinMs = 60_000
const refoldLookMs = 100

/** Recurring work, and recovery at the start: interrupted work is ended or taken up again. */
export const housekeeping = (uses: Uses) => {
  const { commands, views, stores, projecting, turns, warmAgents, answers } = uses
  const { content, knowledge, leases, clock, node, log } = uses
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
    orphanRuns: uses.orphanRuns,
    namesOf: uses.namesOf,
    leases,
    clock,
    node,
    log,
  })

  const unfinishedForks = finishForks({
    forks: views.forks,
    forkSessions: uses.forkSessions,
    leases,
    node,
    log,
  })

  const decidedRuns = resumeDecidedRuns({
    approvals: views.approvals,
    runs: views.runs,
    expireApproval: commands.expireApproval,
    resumeOrClose: uses.resumeOrClose,
    namesOf: uses.namesOf,
    waitForPosition: (position) => projecting.waitForPosition(position, shownWithinMs),
    clock,
    log,
  })

  const tellOfAccounts = recordAccountChanges({
    accountChanges: views.accountChanges,
    recordAccountChange: commands.recordAccountChange,
    waitForPosition: (position) => projecting.waitForPosition(position, shownWithinMs),
    clock,
    log,
  })

  /** `certain`: no other process is running. */
  const sweep = async ({ certain }: { certain: boolean }): Promise<void> => {
    await orphans({ certain })
    await decidedRuns.pass()
    await unfinishedForks({ certain })
    await uses.refreshMasterKeys()
    await uses.rebuildOld()
    await answers.sweep(clock.now())
    await uses.undelivered.sweep(clock.now())
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
