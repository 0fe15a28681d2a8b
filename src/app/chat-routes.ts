import { findApproval } from '../../queries/find-approval.ts'
import { getAgent } from '../../queries/get-agent.ts'
import { getApproval } from '../../queries/get-approval.ts'
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
import { listSessions } from '../../queries/list-sessions.ts'
import type { Config } from '../config.ts'
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
import { eraseTurn } from '../turns/erase/erase-turn.ts'
import { findFirstOptions } from '../turns/read/find-first-options.ts'
import { replayRun } from '../turns/replay/replay-run.ts'
import { cancelTurn } from '../turns/run/cancel-turn.ts'
import type { Chat } from './chat.ts'
import type { Content } from './content.ts'
import type { Parts } from './parts.ts'
import type { AgentTools } from './tools.ts'
import { runtimePorts } from './turns.ts'
import { version } from './version.ts'

type Uses = { chat: Chat; content: Content; tools: AgentTools }

/** Origins of the web pages that may use agents as tools. */
const mcpOrigins = ({ CORS_ORIGINS, PUBLIC_URL }: Config): string[] =>
  PUBLIC_URL ? [...CORS_ORIGINS, new URL(PUBLIC_URL).origin] : CORS_ORIGINS

/** Turns and responses, in the shapes of OpenAI. */
const openAiRoutes = (
  { writing, reading, access, meters }: Parts,
  { chat, content, tools }: Uses,
) => {
  const { commands, vault } = writing
  const { views, waitForPosition } = reading
  const { agentSummaries, messages, organizations, runs } = views
  const { delegate, requireSubscription } = access
  const { beginTurn, findAgents, findTurn, eraseSessions, warmAgents } = chat
  const schemaFault = tools.schemas.faultOf
  return [
    chatRoutes({ beginTurn, schemaFault }),
    responseRoutes({ beginTurn, findTurn, delegate, requireSubscription, schemaFault }),
    responseReadRoutes({
      findTurn,
      cancelTurn: cancelTurn({
        findTurn,
        cancelPausedRun: commands.cancelPausedRun,
        waitForPosition,
      }),
      eraseTurn: eraseTurn({ findTurn, eraseSessions, runs }),
      listInputItems: listInputItems({ runs, messages, open: vault.open }),
      messagesRead: meters.reads.messagesRead,
      linksOf: content.linksOf,
    }),
    modelRoutes({
      listModels: listModels({ agentSummaries, organizations }),
      getModel: getModel({ agentSummaries, organizations }),
    }),
    warmupRoutes({ warmAgents, findAgents, requireSubscription }),
  ]
}

/** Replays of runs, for operators. */
const replayRoutes = (parts: Parts, { tools }: Uses) => {
  const { storage, writing, reading } = parts
  const { vault, blobs } = writing
  return adminRunRoutes({
    replayRun: replayRun({
      ...runtimePorts(parts, tools),
      read: storage.stores.events.read,
      vault,
      blobs,
      findRun: reading.views.runs.get,
    }),
  })
}

/** Agents: their list, their configuration, and their use as tools. */
const agentsRoutes = ({ host, writing, reading, meters }: Parts, { chat }: Uses) => {
  const { config, work, clock } = host
  const { routeCommands, views } = reading
  const { agentSummaries: summaries, agents } = views
  const { beginTurn, findAgents } = chat
  const defaultModel = writing.models.resolve(null).name
  const refusing = { refused: meters.refusals.refused, countRefusal: work.refused, clock }
  return [
    agentRoutes({ listAgents: listAgents({ summaries, defaultModel }) }),
    instructionRoutes({
      changeAgent: routeCommands.changeAgent,
      getAgent: getAgent({ agents }),
    }),
    agentCompletionRoutes({ beginTurn, findAgents, defaultModel }),
    mcpRoutes({
      beginTurn,
      listAgentTools: listAgentTools({ summaries }),
      findAgentTool: findAgentTool({ summaries }),
      noteRefused: (request, refusal) => noteRefused(refusing, request, refusal),
      origins: mcpOrigins(config),
      version,
      clock,
    }),
  ]
}

/** Sessions: their messages, forks, turns, and what their paused runs wait for. */
const sessionsRoutes = (
  { host, writing, reading, access, meters }: Parts,
  { chat, content, tools }: Uses,
) => {
  const { clock } = host
  const { open } = writing.vault
  const { routeCommands, views, writes } = reading
  const { approvals, messages, runs, sessions } = views
  const { turns, findOrResumeTurn, beginTurn, findAgents, forkSessions, resumePaused, runStart } =
    chat
  const { linksOf } = content
  const { messagesRead } = meters.reads
  const sessionReads = {
    findSession: chat.currentSession,
    clock: { now: clock.now, elapsedHere: turns.elapsed },
  }
  const { findSession } = sessionReads
  const approvalOf = findApproval({ approvals })
  return [
    sessionRoutes({
      listSessions: listSessions({ sessions, clock: sessionReads.clock }),
      listMessages: listMessages({ messages, findSession, open }),
      getMessage: getMessage({ messages, findSession, open }),
      getSession: getSession({ sessions, ...sessionReads }),
      getSessionStatus: getSessionStatus(sessionReads),
      linksOf,
      messagesRead,
    }),
    sessionForkRoutes({
      forkSession: writes.command(forkSessions.fork),
      beginTurn,
      findFirstOptions: findFirstOptions({ messages, runs, runStart }),
      schemaFault: tools.schemas.faultOf,
      requireSubscription: access.requireSubscription,
      quotas: access.quotas,
    }),
    approvalRoutes({
      listApprovals: listApprovals({ approvals, open }),
      getApproval: getApproval({ findApproval: approvalOf, open }),
      findApproval: approvalOf,
      decideOnApproval: routeCommands.decideOnApproval,
      resumePaused,
    }),
    toolOutcomeRoutes({ tellOutcome: routeCommands.tellOutcome, findSession, resumePaused }),
    sessionTurnRoutes({
      turns,
      findOrResumeTurn,
      findSession,
      findAgents,
      defaultModel: writing.models.resolve(null).name,
      messagesRead,
      clock,
    }),
  ]
}

/** The routes of turns, sessions and agents, by the path that they are mounted at. */
export const chatRoutesOf = (parts: Parts, uses: Uses) => {
  const { agentSummaries, organizations } = parts.reading.views
  const listSquads = listManagementAgents({ agentSummaries, organizations })
  const managementAgents = managementAgentRoutes({ listSquads })
  return {
    '/api/external/v1': openAiRoutes(parts, uses),
    '': [managementAgents],
    '/api/admin': [replayRoutes(parts, uses)],
    '/api/external': [
      managementAgents,
      ...agentsRoutes(parts, uses),
      ...sessionsRoutes(parts, uses),
    ],
  }
}
