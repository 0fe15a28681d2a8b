import { sessionDocumentId } from '../../projections/sessions.ts'
import { findAnswer } from '../../queries/find-answer.ts'
import { findPendingApprovals } from '../../queries/find-pending-approvals.ts'
import { agentRuntime } from '../agents/agent-runtime.ts'
import type { FindAgents } from '../caches/find-agents.ts'
import { runsAtOnceOf } from '../domain/plan.ts'
import { findRequestId } from '../event-sourcing/find-request-id.ts'
import { sealRequest } from '../turns/begin/seal-request.ts'
import { startRun } from '../turns/begin/start-run.ts'
import { pastTurn as pastTurnOf } from '../turns/read/past-turn.ts'
import { abandonRun as abandonRunOf } from '../turns/resume/abandon-run.ts'
import { closeRun as closeRunOf, runNames } from '../turns/resume/close-run.ts'
import { findOrResumeTurn as findOrResumeTurnOf } from '../turns/resume/find-or-resume-turn.ts'
import { orphanRuns as orphanRunsOf } from '../turns/resume/orphan-runs.ts'
import { recordedCost } from '../turns/resume/recorded-cost.ts'
import { resumeOrClose as resumeOrCloseOf } from '../turns/resume/resume-or-close.ts'
import { resumePaused as resumePausedOf } from '../turns/resume/resume-paused.ts'
import { resumeTurns } from '../turns/resume/resume-turn.ts'
import { recordWatched, suspectRuns } from '../turns/resume/suspects.ts'
import { takeRun } from '../turns/resume/take-run.ts'
import { executeRun as executeRunOf } from '../turns/run/execute.ts'
import { runSpans } from '../turns/run/run-spans.ts'
import { sendTurn as sendTurnOf } from '../turns/run/send-turn.ts'
import { turnScheduler } from '../turns/run/turn-scheduler.ts'
import { turns as turnsOf } from '../turns/run/turns.ts'
import { type WatchRun, watchAll } from '../turns/run/watch-run.ts'
import { nodeLease } from '../workers/node-lease.ts'
import type { Host } from './host.ts'
import type { Parts } from './parts.ts'
import type { AgentTools } from './tools.ts'

type Uses = {
  findAgents: FindAgents
  tools: AgentTools
  /** A call waits for an approval until then. */
  watchApproval(expiresAt: string): void
}

/** What agents run with. */
export const runtimePorts = ({ host, writing }: Parts, { toolsOf, schemas }: AgentTools) => {
  const { config, clock } = host
  return {
    models: writing.models,
    clock,
    toolsOf,
    textMisfitOf: schemas.textMisfitOf,
    limits: { modelCalls: config.RUN_MAX_MODEL_CALLS, steps: config.RUN_MAX_STEPS },
  }
}

/** Every run is counted, and traced where traces are exported. */
const watchRuns = ({ work, telemetry }: Host): WatchRun =>
  telemetry ? watchAll([work.watchRun, runSpans(telemetry)]) : work.watchRun

/** The turns that ended, as they are stored. */
const storedTurns = ({ writing, reading }: Parts) => {
  const { open } = writing.vault
  const { runs, messages, approvals } = reading.views
  return pastTurnOf(findAnswer({ runs, messages, open }), findPendingApprovals({ approvals, open }))
}

/**
 * Turns, each function on those before it: the schedule, execution, resumption of other processes'
 * runs, the turns that clients send.
 */
export const turnsPart = (parts: Parts, { findAgents, tools, watchApproval }: Uses) => {
  const { host, storage, writing, reading } = parts
  const { clock, node, log } = host
  const { events, leases, undelivered } = storage.stores
  const { commands, models, vault, blobs, load } = writing
  const { views, waitForPosition } = reading
  const { cancelPausedRun, sendMessage, endRun, pauseRun, resumeRun } = commands
  const findRun = views.runs.get
  const namesOf = runNames(findRequestId({ read: events.read }))
  const suspects = suspectRuns()
  const recordSteps = recordWatched(commands.recordSteps, suspects)
  const scheduler = turnScheduler({ clock, log })
  const { live, isStopping } = scheduler
  const executeRun = executeRunOf({
    recordSteps,
    endRun,
    pauseRun,
    watchApproval,
    runAgent: agentRuntime(runtimePorts(parts, tools)),
    watchRun: watchRuns(host),
    blobs,
    isStopping,
    waitForPosition,
    clock,
    node,
    log,
  })
  const abandonRun = abandonRunOf({ undelivered, log })
  const costOf = recordedCost({ read: events.read })
  const closeRun = closeRunOf({ endRun, costOf, abandonRun, namesOf, clock, log })
  const { resume, runQueued } = resumeTurns({
    scheduler,
    takeRun: takeRun({
      resumeRun,
      abandonRun,
      readStream: events.read,
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
    load,
    resumeOrClose,
    find: live.find,
    recordSteps: commands.recordSteps,
    suspects,
    namesOf,
    clock,
    node,
    log,
  })
  const findOrResumeTurn = findOrResumeTurnOf({
    pastTurn: storedTurns(parts),
    findRun,
    live,
    isAlive: async (other) => (await leases.holder(nodeLease(other))) !== undefined,
    orphanRuns,
    node,
  })
  const sendTurn = sendTurnOf({
    scheduler,
    startRun: startRun({
      sendMessage,
      sealRequest: sealRequest({ vault, clock }),
      blobs,
      models,
      clock,
      node,
      log,
    }),
    executeRun,
    runQueued,
    findOrResumeTurn,
    findRun,
    waitForPosition,
    clock,
  })
  const turns = turnsOf({ scheduler, cancelPausedRun, waitForPosition })
  const resuming = scheduler.resumable.subscribe((runId) => void resumePaused(runId))

  return {
    sendTurn,
    turns,
    findOrResumeTurn,
    orphanRuns,
    resumeOrClose,
    resumePaused,
    namesOf,
    close: (): void => resuming.unsubscribe(),
  }
}
