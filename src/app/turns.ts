import { sessionDocumentId } from '../../projections/sessions.ts'
import type { AgentTurn } from '../agents/turn.ts'
import type { FindAgents } from '../caches/find-agents.ts'
import { runsAtOnceOf } from '../domain/plan.ts'
import type { FindRequestId } from '../event-sourcing/find-request-id.ts'
import type { Load } from '../event-sourcing/transactor.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { Models } from '../ports/model.ts'
import type { UndeliveredRuns } from '../ports/undelivered-runs.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import type { Vault } from '../security/vault.ts'
import { sealedRequest } from '../turns/begin/sealed-request.ts'
import { startRun as startRunOf } from '../turns/begin/start-run.ts'
import type { PastTurn } from '../turns/read/past-turn.ts'
import { abandonRun as abandonRunOf } from '../turns/resume/abandon-run.ts'
import { closeRun as closeRunOf, runNames } from '../turns/resume/close-run.ts'
import { orphanRuns as orphanRunsOf } from '../turns/resume/orphan-runs.ts'
import { recordedCost } from '../turns/resume/recorded-cost.ts'
import { resumeOrClose as resumeOrCloseOf } from '../turns/resume/resume-or-close.ts'
import { resumePaused as resumePausedOf } from '../turns/resume/resume-paused.ts'
import { resumeTurns } from '../turns/resume/resume-turn.ts'
import { recordWatched, suspectRuns } from '../turns/resume/suspects.ts'
import { takeOver } from '../turns/resume/take-over.ts'
import { takeRun } from '../turns/resume/take-run.ts'
import { type ExecuteRunUses, executeRun as executeRunOf } from '../turns/run/execute.ts'
import { sendTurn } from '../turns/run/send-turn.ts'
import { turnScheduler } from '../turns/run/turn-scheduler.ts'
import { turns as turnsOf } from '../turns/run/turns.ts'
import type { WatchRun } from '../turns/run/watch-run.ts'
import { nodeLease } from '../workers/node-lease.ts'
import type { AllViews } from './read-models.ts'
import type { InternalCommands } from './route-commands.ts'

type Uses = {
  commands: Pick<
    InternalCommands,
    'cancelPausedRun' | 'endRun' | 'pauseRun' | 'recordSteps' | 'resumeRun' | 'sendMessage'
  >
  views: Pick<AllViews, 'runs' | 'sessions' | 'users'>
  /** Ended turns, as they are stored. */
  storedTurn: PastTurn
  findAgents: FindAgents
  runAgent(turn: AgentTurn): ReturnType<ExecuteRunUses['runAgent']>
  models: Models
  vault: Vault
  blobs: SealedBlobs
  watchRun: WatchRun
  watchApproval(expiresAt: string): void
  read: EventStore['read']
  load: Load
  findRequestId: FindRequestId
  leases: Pick<Leases, 'holder'>
  undelivered: UndeliveredRuns
  waitForPosition: WaitForPosition
  clock: Clock
  node: string
  log: Log
}

/**
 * The turn engine, each part on those before it: the schedule, execution, resumption of other
 * processes' runs, the turns that clients send.
 */
export const turnEngine = (uses: Uses) => {
  const { commands, views, findAgents, vault, blobs, waitForPosition, clock, node, log } = uses
  const { cancelPausedRun, sendMessage, endRun, pauseRun, resumeRun } = commands
  const findRun = views.runs.get
  const namesOf = runNames(uses.findRequestId)
  const suspects = suspectRuns()
  const recordSteps = recordWatched(commands.recordSteps, suspects)
  const scheduler = turnScheduler({ clock, log })
  const { live, isStopping } = scheduler
  const executeRun = executeRunOf({
    recordSteps,
    endRun,
    pauseRun,
    watchApproval: uses.watchApproval,
    runAgent: uses.runAgent,
    watchRun: uses.watchRun,
    blobs,
    isStopping,
    waitForPosition,
    clock,
    node,
    log,
  })
  const abandonRun = abandonRunOf({ undelivered: uses.undelivered, log })
  const costOf = recordedCost({ read: uses.read })
  const closeRun = closeRunOf({ endRun, costOf, abandonRun, namesOf, clock, log })
  const { resume, runQueued } = resumeTurns({
    scheduler,
    takeRun: takeRun({
      resumeRun,
      abandonRun,
      readStream: uses.read,
      findAgents,
      vault,
      clock,
      node,
    }),
    executeRun,
    closeRun,
    cancelPausedRun,
    waitForPosition,
    sessionOwner: async ({ organizationId, sessionId }) => {
      const view = await views.sessions.get(sessionDocumentId(organizationId, sessionId))
      return view && { ownerId: view.user_id, keyId: view.key_id }
    },
    runsAtOnce: async (payerId) => runsAtOnceOf((await views.users.get(payerId))?.plan ?? null),
    clock,
  })
  const resumeOrClose = resumeOrCloseOf({ resume, closeRun, namesOf, log })
  const resumePaused = resumePausedOf({ findRun, resumeOrClose, namesOf, log })
  const orphanRuns = orphanRunsOf({
    load: uses.load,
    resumeOrClose,
    find: live.find,
    recordSteps: commands.recordSteps,
    suspects,
    namesOf,
    clock,
    node,
    log,
  })
  const pastTurn = takeOver({
    pastTurn: uses.storedTurn,
    findRun,
    live,
    isAlive: async (other) => (await uses.leases.holder(nodeLease(other))) !== undefined,
    orphanRuns,
    node,
  })
  const sealed = sealedRequest({ vault, clock })
  const { models } = uses
  const turns = turnsOf({
    scheduler,
    sendTurn: sendTurn({
      scheduler,
      startRun: startRunOf({ sendMessage, blobs, models, sealed, clock, node, log }),
      executeRun,
      keyOf: sealed.keyOf,
      runQueued,
      pastTurn,
      findRun,
      waitForPosition,
      clock,
    }),
    cancelPausedRun,
    waitForPosition,
  })
  const resuming = scheduler.resumable.subscribe((runId) => void resumePaused(runId))

  return {
    turns,
    pastTurn,
    orphanRuns,
    resumeOrClose,
    resumePaused,
    namesOf,
    close: (): void => resuming.unsubscribe(),
  }
}
