import { findAgents } from '../../queries/find-agents.ts'
import { findAnswer } from '../../queries/find-answer.ts'
import { findBalance } from '../../queries/find-balance.ts'
import { findMember } from '../../queries/find-member.ts'
import { findRepeatedRun } from '../../queries/find-repeated-run.ts'
import { type FindSession, findSession } from '../../queries/find-session.ts'
import { sessionStatus } from '../../queries/get-session-status.ts'
import { getAgent, listAgents } from '../../queries/list-agents.ts'
import { listManagementAgents } from '../../queries/list-management-agents.ts'
import { getMessage, listMessages } from '../../queries/list-messages.ts'
import { listSessions } from '../../queries/list-sessions.ts'
import type { RuntimePorts } from '../agents/agent-kind.ts'
import { agentRuntime } from '../agents/agent-runtime.ts'
import { agentCompletionRoutes } from '../http/routes/agent-completions.ts'
import { agentRoutes } from '../http/routes/agents.ts'
import { chatRoutes } from '../http/routes/chat.ts'
import { instructionRoutes, managementAgentRoutes } from '../http/routes/management-agents.ts'
import { sessionTurnRoutes } from '../http/routes/session-turns.ts'
import { sessionRoutes } from '../http/routes/sessions.ts'
import { warmupRoutes } from '../http/routes/warmup.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Models } from '../ports/model.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { Projector } from '../projector/projector.ts'
import { delegation } from '../security/delegate.ts'
import type { Vault } from '../security/vault.ts'
import { turnBeginner } from '../turns/begin-turn.ts'
import { pastTurn as pastTurnOf } from '../turns/past-turn.ts'
import { repeats } from '../turns/repeats.ts'
import { subscription } from '../turns/subscription.ts'
import { turns as turnsOf } from '../turns/turns.ts'
import { warmAgents as warmAgentsOf } from '../turns/warm-agents.ts'
import type { Commands } from './commands.ts'
import type { AllViews } from './read-models.ts'

type Uses = Commands &
  AllViews & {
    changes: Projector['changes']
    models: Models
    toolsOf: RuntimePorts['toolsOf']
    vault: Vault
    waitForPosition: WaitForPosition
    clock: Clock
    node: string
    log: Log
  }

/** Turns of sessions, the agents that make them, and what is read of both. */
export const chatOf = (uses: Uses) => {
  const { models, toolsOf, vault, waitForPosition, clock } = uses
  const { open } = vault
  const defaultModel = models.resolve(null).name
  const squads = findAgents(uses)
  const pastTurn = pastTurnOf(findAnswer({ ...uses, open }))
  const warmAgents = warmAgentsOf({ ...uses, findSquad: squads.find })
  const runAgent = agentRuntime({ models, clock, toolsOf })
  const turns = turnsOf({ ...uses, runAgent, pastTurn })
  const session: FindSession = async (one) => {
    await turns.shown(one)
    return findSession(uses.sessions)(one)
  }
  const all = {
    ...uses,
    turns,
    pastTurn,
    warmAgents,
    findSquad: squads.find,
    findSession: session,
    open,
    defaultModel,
    delegate: delegation(findMember(uses.members)),
    requireSubscription: subscription(findBalance(uses.accounts)),
  }
  const findRepeated = findRepeatedRun(uses.runs)
  const beginTurn = turnBeginner({
    ...all,
    repeats: repeats({ turns, findRepeatedRun: findRepeated, clock }),
  })
  const squadList = managementAgentRoutes({ listSquads: listManagementAgents(uses) })
  return {
    turns,
    warmAgents,
    beginTurn,
    delegate: all.delegate,
    requireSubscription: all.requireSubscription,
    /** By the path they are mounted at. */
    routes: {
      '/api/external/v1': [chatRoutes(beginTurn), warmupRoutes(all)],
      '': [squadList],
      '/api/external': [
        agentRoutes({ listAgents: listAgents(uses.agents) }),
        squadList,
        instructionRoutes({ ...all, getAgent: getAgent(uses.agents), waitForPosition }),
        agentCompletionRoutes({ ...all, beginTurn }),
        sessionRoutes({
          ...all,
          listSessions: listSessions(uses.sessions),
          listMessages: listMessages(all),
          getMessage: getMessage(all),
          sessionStatus: sessionStatus({ findSession: session, now: clock.now }),
        }),
        sessionTurnRoutes(all),
      ],
    },
    close: squads.close,
  }
}
