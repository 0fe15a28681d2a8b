import { countWaitingRuns } from '../../queries/count-waiting-runs.ts'
import { findSession } from '../../queries/find-session.ts'
import { listSessionIds } from '../../queries/list-session-ids.ts'
import { findAgents as findAgentsOf } from '../caches/find-agents.ts'
import { beginTurn as beginTurnOf } from '../turns/begin/begin-turn.ts'
import type { ReceiveParts } from '../turns/begin/receive-parts.ts'
import { retries as retriesOf } from '../turns/begin/retries.ts'
import { warmAgents as warmAgentsOf } from '../turns/begin/warm-agents.ts'
import { eraseFiles } from '../turns/erase/erase-files.ts'
import { eraseSessions as eraseSessionsOf } from '../turns/erase/erase-sessions.ts'
import { forkSessions as forkSessionsOf } from '../turns/fork/fork-sessions.ts'
import { findCurrentSession } from '../turns/read/find-current-session.ts'
import { findTurn as findTurnOf } from '../turns/read/find-turn.ts'
import { runStart as runStartOf } from '../turns/read/run-start.ts'
import type { Content } from './content.ts'
import type { Parts } from './parts.ts'
import type { AgentTools } from './tools.ts'
import { turnsPart } from './turns.ts'

type Uses = {
  content: Content
  tools: AgentTools
  receiveParts: ReceiveParts
  /** A call waits for an approval until then. */
  watchApproval(expiresAt: string): void
}

/** Turns of sessions, and the agents that answer them. */
export const chatPart = (parts: Parts, { content, tools, receiveParts, watchApproval }: Uses) => {
  const { host, storage, writing, reading, access } = parts
  const { clock, node, log } = host
  const { events, undelivered, sharedViews } = storage.stores
  const { commands, models, vault, blobs, secrets, load } = writing
  const { views, changes, waitForPosition } = reading
  const { delegate, requireSubscription } = access
  const { toolsOf } = tools
  const { read, head } = events
  const { agents, forks, organizations, runs, sessions } = views

  const organizationAgents = findAgentsOf({ agents, organizations, changes, sharedViews })
  const findAgents = organizationAgents.find
  const warmAgents = warmAgentsOf({ findAgents, toolsOf, models, clock })
  const running = turnsPart(parts, { findAgents, tools, watchApproval })
  const { sendTurn, turns, findOrResumeTurn, orphanRuns } = running
  const { namesOf, resumeOrClose, resumePaused } = running
  const retries = retriesOf({
    undelivered,
    turns,
    findOrResumeTurn,
    load,
    hash: secrets.hashRequest,
    clock,
    node,
    log,
  })
  const currentSession = findCurrentSession({
    waitUntilShown: turns.waitUntilShown,
    findSession: findSession({ sessions }),
  })
  const runStart = runStartOf({ read, vault })
  const findTurn = findTurnOf({
    turns,
    findOrResumeTurn,
    findRun: runs.get,
    runStart,
    findSession: currentSession,
  })
  const eraseFilesIn = eraseFiles({ read, blobs })
  const forkSessions = forkSessionsOf({
    load,
    read,
    forkSession: commands.forkSession,
    eraseSession: (session, call) =>
      commands.eraseSession(session, call, () => eraseFilesIn(session.sessionId, call)),
    vault,
    blobs,
    clock,
    node,
  })
  const beginTurn = beginTurnOf({
    sendTurn,
    turns,
    findOrResumeTurn,
    findAgents,
    delegate,
    requireSubscription,
    quotas: access.quotas,
    retries,
    warmAgents,
    toolsOf,
    models,
    receiveParts,
    findRun: runs.get,
    findTurn,
    forkSessions,
    clock,
  })
  const eraseSessions = eraseSessionsOf({
    eraseSession: commands.eraseSession,
    eraseContents: async (sessionId, call) => {
      await eraseFilesIn(sessionId, call)
      await content.eraseContents(sessionId, call)
    },
    listSessionIds: listSessionIds({ sessions, forks }),
    turns,
    waitForPosition,
    head,
  })

  return {
    turns,
    findOrResumeTurn,
    orphanRuns,
    namesOf,
    resumeOrClose,
    resumePaused,
    beginTurn,
    findTurn,
    runStart,
    currentSession,
    forkSessions,
    eraseSessions,
    findAgents,
    warmAgents,
    waitingRuns: countWaitingRuns({ runs }),
    close(): void {
      running.close()
      organizationAgents.close()
    },
  }
}

export type Chat = ReturnType<typeof chatPart>
