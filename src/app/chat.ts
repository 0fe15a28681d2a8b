import { countWaitingRuns } from '../../queries/count-waiting-runs.ts'
import { findAnswer } from '../../queries/find-answer.ts'
import { findApproval } from '../../queries/find-approval.ts'
import { findPendingApprovals } from '../../queries/find-pending-approvals.ts'
import { findSession } from '../../queries/find-session.ts'
import { getAgent } from '../../queries/get-agent.ts'
import { getMessage } from '../../queries/get-message.ts'
import { getSession } from '../../queries/get-session.ts'
import { getSessionStatus } from '../../queries/get-session-status.ts'
import { findAgentTool, listAgentTools } from '../../queries/list-agent-tools.ts'
import { listAgents } from '../../queries/list-agents.ts'
import { listApprovals } from '../../queries/list-approvals.ts'
import { listInputItems } from '../../queries/list-input-items.ts'
import { listManagementAgents } from '../../queries/list-management-agents.ts'
import { listMessages } from '../../queries/list-messages.ts'
import { getModel, listModels } from '../../queries/list-models.ts'
import { listSessionIds } from '../../queries/list-session-ids.ts'
import { listSessions } from '../../queries/list-sessions.ts'
import type { RuntimePorts } from '../agents/agent-kind.ts'
import { agentRuntime } from '../agents/agent-runtime.ts'
import { findAgents as findAgentsOf } from '../caches/find-agents.ts'
import type { Config } from '../config.ts'
import type { Position } from '../domain/event.ts'
import type { FindRequestId } from '../event-sourcing/find-request-id.ts'
import type { Load } from '../event-sourcing/transactor.ts'
import { noteRefused } from '../http/errors/noted.ts'
import { adminRunRoutes } from '../http/routes/admin-runs.ts'
import { agentCompletionRoutes } from '../http/routes/agent-completions.ts'
import { agentRoutes } from '../http/routes/agents.ts'
import { approvalRoutes } from '../http/routes/approvals.ts'
import { chatRoutes } from '../http/routes/chat.ts'
import { instructionRoutes, managementAgentRoutes } from '../http/routes/management-agents.ts'
import { mcpRoutes } from '../http/routes/mcp.ts'
import { modelRoutes } from '../http/routes/models.ts'
import { responseReadRoutes } from '../http/routes/response-reads.ts'
import { responseRoutes } from '../http/routes/responses.ts'
import { sessionForkRoutes } from '../http/routes/session-forks.ts'
import { sessionTurnRoutes } from '../http/routes/session-turns.ts'
import { sessionRoutes } from '../http/routes/sessions.ts'
import { toolOutcomeRoutes } from '../http/routes/tool-outcomes.ts'
import { warmupRoutes } from '../http/routes/warmup.ts'
import type { WorkMetrics } from '../http/server/work-metrics.ts'
import type { FileLinks } from '../http/wire/file-links.ts'
import type { ReadMeter } from '../metering/read-meter.ts'
import type { RefusalMeter } from '../metering/refusal-meter.ts'
import type { Clock } from '../ports/clock.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { JsonSchemas } from '../ports/json-schemas.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { Models } from '../ports/model.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { UndeliveredRuns } from '../ports/undelivered-runs.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { Projector } from '../projector/projector.ts'
import type { Delegate } from '../security/delegate.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import type { Vault } from '../security/vault.ts'
import { beginTurn as beginTurnOf } from '../turns/begin/begin-turn.ts'
import type { ReceiveParts } from '../turns/begin/receive-parts.ts'
import type { RequireSubscription } from '../turns/begin/require-subscription.ts'
import { retries as retriesOf } from '../turns/begin/retries.ts'
import type { StorageQuotas } from '../turns/begin/storage-quotas.ts'
import { warmAgents as warmAgentsOf } from '../turns/begin/warm-agents.ts'
import type { EraseContents } from '../turns/erase/erase-contents.ts'
import { eraseFiles } from '../turns/erase/erase-files.ts'
import { eraseSessions as eraseSessionsOf } from '../turns/erase/erase-sessions.ts'
import { eraseTurn } from '../turns/erase/erase-turn.ts'
import { forkSessions as forkSessionsOf } from '../turns/fork/fork-sessions.ts'
import { findCurrentSession } from '../turns/read/find-current-session.ts'
import { findFirstOptions } from '../turns/read/find-first-options.ts'
import { findTurn as findTurnOf } from '../turns/read/find-turn.ts'
import { pastTurn as pastTurnOf } from '../turns/read/past-turn.ts'
import { runStart } from '../turns/read/run-start.ts'
import { replayRun } from '../turns/replay/replay-run.ts'
import { cancelTurn } from '../turns/run/cancel-turn.ts'
import { runSpans } from '../turns/run/run-spans.ts'
import { watchAll } from '../turns/run/watch-run.ts'
import type { AllViews } from './read-models.ts'
import type { ReadYourWrites } from './read-your-writes.ts'
import type { InternalCommands, RouteCommands } from './route-commands.ts'
import { turnEngine } from './turns.ts'

type Uses = {
  config: Pick<Config, 'CORS_ORIGINS' | 'PUBLIC_URL' | 'RUN_MAX_MODEL_CALLS' | 'RUN_MAX_STEPS'>
  commands: Pick<
    InternalCommands,
    | 'cancelPausedRun'
    | 'endRun'
    | 'eraseSession'
    | 'forkSession'
    | 'pauseRun'
    | 'recordSteps'
    | 'resumeRun'
    | 'sendMessage'
  >
  routeCommands: Pick<RouteCommands, 'changeAgent' | 'decideOnApproval' | 'tellOutcome'>
  writes: Pick<ReadYourWrites, 'command'>
  views: Pick<
    AllViews,
    | 'agentSummaries'
    | 'agents'
    | 'approvals'
    | 'forks'
    | 'messages'
    | 'organizations'
    | 'runs'
    | 'sessions'
    | 'users'
  >
  changes: Projector['changes']
  sharedViews: boolean
  delegate: Delegate
  requireSubscription: RequireSubscription
  storage: StorageQuotas
  models: Models
  toolsOf: RuntimePorts['toolsOf']
  schemas: Pick<JsonSchemas, 'faultOf' | 'textMisfitOf'>
  vault: Vault
  blobs: SealedBlobs
  receiveParts: ReceiveParts
  linksOf: FileLinks
  eraseContents: EraseContents
  waitForPosition: WaitForPosition
  refused: RefusalMeter['refused']
  messagesRead: ReadMeter['messagesRead']
  /** A call waits for an approval until then. */
  watchApproval(expiresAt: string): void
  work: Pick<WorkMetrics, 'refused' | 'watchRun'>
  telemetry: Telemetry | undefined
  leases: Pick<Leases, 'holder'>
  undelivered: UndeliveredRuns
  /** An HMAC of a request. */
  hashRequest(text: string, body?: Uint8Array): string
  /** The last position of the log. */
  head(): Promise<Position>
  /** Streams, event by event, and as they are decided on. */
  read: EventStore['read']
  load: Load
  findRequestId: FindRequestId
  clock: Clock
  /** Identifies this process until it ends. */
  node: string
  /** Of this release. */
  version: string
  log: Log
}

/** Origins of the web pages that may use agents as tools. */
const mcpOrigins = ({ CORS_ORIGINS, PUBLIC_URL }: Uses['config']): string[] =>
  PUBLIC_URL ? [...CORS_ORIGINS, new URL(PUBLIC_URL).origin] : CORS_ORIGINS

/** Turns of sessions, the agents that answer them, and the queries about both. */
export const chatPart = (uses: Uses) => {
  const {
    config,
    commands,
    routeCommands,
    views,
    delegate,
    requireSubscription,
    models,
    toolsOf,
    vault,
  } = uses
  const {
    changes,
    sharedViews,
    waitForPosition,
    head,
    work,
    telemetry,
    undelivered,
    clock,
    node,
    version,
    log,
  } = uses
  const refusing = { refused: uses.refused, countRefusal: work.refused, clock }
  const { agentSummaries, agents, approvals, forks, messages, organizations, runs, sessions } =
    views
  const { open } = vault
  const defaultModel = models.resolve(null).name

  const organizationAgents = findAgentsOf({ agents, organizations, changes, sharedViews })
  const findAgents = organizationAgents.find
  const storedTurn = pastTurnOf(
    findAnswer({ runs, messages, open }),
    findPendingApprovals({ approvals, open }),
  )
  const warmAgents = warmAgentsOf({ findAgents, toolsOf, models, clock })
  const { turns, pastTurn, orphanRuns, resumeOrClose, resumePaused, namesOf, close } = turnEngine({
    commands,
    views,
    vault,
    blobs: uses.blobs,
    models,
    watchApproval: uses.watchApproval,
    read: uses.read,
    load: uses.load,
    findRequestId: uses.findRequestId,
    leases: uses.leases,
    undelivered,
    waitForPosition,
    clock,
    node,
    log,
    storedTurn,
    findAgents,
    runAgent: agentRuntime({
      models,
      clock,
      toolsOf,
      textMisfitOf: uses.schemas.textMisfitOf,
      limits: { modelCalls: config.RUN_MAX_MODEL_CALLS, steps: config.RUN_MAX_STEPS },
    }),
    watchRun: telemetry ? watchAll([work.watchRun, runSpans(telemetry)]) : work.watchRun,
  })
  const sessionClock = { now: clock.now, elapsedHere: turns.elapsed }
  const retries = retriesOf({
    undelivered,
    turns,
    pastTurn,
    load: uses.load,
    hash: uses.hashRequest,
    clock,
    node,
    log,
  })
  const currentSession = findCurrentSession({
    waitUntilShown: turns.waitUntilShown,
    findSession: findSession({ sessions }),
  })
  const start = runStart({ read: uses.read, vault })
  const findTurn = findTurnOf({
    turns,
    pastTurn,
    findRun: runs.get,
    runStart: start,
    findSession: currentSession,
  })
  const eraseFilesIn = eraseFiles({ read: uses.read, blobs: uses.blobs })
  const forkSessions = forkSessionsOf({
    load: uses.load,
    read: uses.read,
    forkSession: commands.forkSession,
    eraseSession: (session, call) =>
      commands.eraseSession(session, call, () => eraseFilesIn(session.sessionId, call)),
    vault,
    blobs: uses.blobs,
    clock,
    node,
  })
  const beginTurn = beginTurnOf({
    turns,
    pastTurn,
    findAgents,
    delegate,
    requireSubscription,
    storage: uses.storage,
    retries,
    warmAgents,
    toolsOf,
    models,
    receiveParts: uses.receiveParts,
    findRun: runs.get,
    findTurn,
    forkSessions,
    clock,
  })
  const eraseSessions = eraseSessionsOf({
    eraseSession: commands.eraseSession,
    eraseContents: async (sessionId, call) => {
      await eraseFilesIn(sessionId, call)
      await uses.eraseContents(sessionId, call)
    },
    listSessionIds: listSessionIds({ sessions, forks }),
    turns,
    waitForPosition,
    head,
  })
  const managementAgents = managementAgentRoutes({
    listSquads: listManagementAgents({ agentSummaries, organizations }),
  })

  return {
    turns,
    resumeOrClose,
    orphanRuns,
    namesOf,
    beginTurn,
    findAgents,
    warmAgents,
    forkSessions,
    eraseSessions,
    waitingRuns: countWaitingRuns({ runs }),
    /** By the path they are mounted at. */
    routes: {
      '/api/external/v1': [
        chatRoutes({ beginTurn, schemaFault: uses.schemas.faultOf }),
        responseRoutes({
          beginTurn,
          findTurn,
          delegate,
          requireSubscription,
          schemaFault: uses.schemas.faultOf,
        }),
        responseReadRoutes({
          findTurn,
          cancelTurn: cancelTurn({
            findTurn,
            cancelPausedRun: commands.cancelPausedRun,
            waitForPosition,
          }),
          eraseTurn: eraseTurn({ findTurn, eraseSessions, runs }),
          listInputItems: listInputItems({ runs, messages, open }),
          messagesRead: uses.messagesRead,
          linksOf: uses.linksOf,
        }),
        modelRoutes({
          listModels: listModels({ agentSummaries, organizations }),
          getModel: getModel({ agentSummaries, organizations }),
        }),
        warmupRoutes({ warmAgents, findAgents, requireSubscription }),
      ],
      '': [managementAgents],
      '/api/admin': [
        adminRunRoutes({
          replayRun: replayRun({
            read: uses.read,
            vault,
            blobs: uses.blobs,
            findRun: runs.get,
            models,
            clock,
            toolsOf,
            textMisfitOf: uses.schemas.textMisfitOf,
            limits: { modelCalls: config.RUN_MAX_MODEL_CALLS, steps: config.RUN_MAX_STEPS },
          }),
        }),
      ],
      '/api/external': [
        agentRoutes({ listAgents: listAgents({ summaries: agentSummaries, defaultModel }) }),
        managementAgents,
        instructionRoutes({
          changeAgent: routeCommands.changeAgent,
          getAgent: getAgent({ agents }),
        }),
        agentCompletionRoutes({ beginTurn, findAgents, defaultModel }),
        mcpRoutes({
          beginTurn,
          listAgentTools: listAgentTools({ summaries: agentSummaries }),
          findAgentTool: findAgentTool({ summaries: agentSummaries }),
          noteRefused: (request, refusal) => noteRefused(refusing, request, refusal),
          origins: mcpOrigins(config),
          version,
          clock,
        }),
        sessionRoutes({
          listSessions: listSessions({ sessions, clock: sessionClock }),
          listMessages: listMessages({ messages, findSession: currentSession, open }),
          getMessage: getMessage({ messages, findSession: currentSession, open }),
          getSession: getSession({ sessions, findSession: currentSession, clock: sessionClock }),
          getSessionStatus: getSessionStatus({
            findSession: currentSession,
            clock: sessionClock,
          }),
          linksOf: uses.linksOf,
          messagesRead: uses.messagesRead,
        }),
        sessionForkRoutes({
          forkSession: uses.writes.command(forkSessions.fork),
          beginTurn,
          findFirstOptions: findFirstOptions({ messages, runs, runStart: start }),
          schemaFault: uses.schemas.faultOf,
          requireSubscription,
          storage: uses.storage,
        }),
        approvalRoutes({
          listApprovals: listApprovals({ approvals, open }),
          findApproval: findApproval({ approvals }),
          decideOnApproval: routeCommands.decideOnApproval,
          resumePaused,
        }),
        toolOutcomeRoutes({
          tellOutcome: routeCommands.tellOutcome,
          findSession: currentSession,
          resumePaused,
        }),
        sessionTurnRoutes({
          turns,
          pastTurn,
          findSession: currentSession,
          findAgents,
          defaultModel,
          messagesRead: uses.messagesRead,
          clock,
        }),
      ],
    },
    close(): void {
      close()
      organizationAgents.close()
    },
  }
}
