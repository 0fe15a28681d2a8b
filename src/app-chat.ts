import { findAnswer } from '../queries/find-answer.ts'
import { findBalance } from '../queries/find-balance.ts'
import { findMember } from '../queries/find-member.ts'
import { findRepeatedRun } from '../queries/find-repeated-run.ts'
import { type FindSession, findSession } from '../queries/find-session.ts'
import { findSquad } from '../queries/find-squad.ts'
import { getAgent, listAgents } from '../queries/list-agents.ts'
import { getMessage, listMessages } from '../queries/list-messages.ts'
import { listSessions } from '../queries/list-sessions.ts'
import { listSquads } from '../queries/list-squads.ts'
import { sessionStatus } from '../queries/session-status.ts'
import type { RuntimePorts } from './agents/agent-kind.ts'
import { agentRuntime } from './agents/agent-runtime.ts'
import type { Commands } from './app-commands.ts'
import type { AllViews } from './app-reads.ts'
import type { Passed } from './http/admin-wire.ts'
import { turnBeginner } from './http/begin-turn.ts'
import { delegation } from './http/delegate.ts'
import { repeats } from './http/repeats.ts'
import { agentCompletionRoutes } from './http/routes/agent-completions.ts'
import { agentRoutes } from './http/routes/agents.ts'
import { chatRoutes } from './http/routes/chat.ts'
import { instructionRoutes, squadRoutes } from './http/routes/management-agents.ts'
import { sessionTurnRoutes } from './http/routes/session-turns.ts'
import { sessionRoutes } from './http/routes/sessions.ts'
import { warmupRoutes } from './http/routes/warmup.ts'
import { subscription } from './http/subscription.ts'
import type { Clock } from './ports/clock.ts'
import type { Log } from './ports/log.ts'
import type { Models } from './ports/model.ts'
import type { Projector } from './project.ts'
import { pastTurn as pastTurnOf } from './turns/past-turn.ts'
import { turns as turnsOf } from './turns/turns.ts'
import { warmAgents as warmAgentsOf } from './turns/warm-agents.ts'
import type { Vault } from './vault.ts'

type Uses = Commands &
  AllViews & {
    changes: Projector['changes']
    models: Models
    toolsOf: RuntimePorts['toolsOf']
    vault: Vault
    passed: Passed
    clock: Clock
    node: string
    log: Log
  }

/** Turns of sessions, the agents that make them, and what is read of both. */
export const chatOf = (uses: Uses) => {
  const { models, toolsOf, vault, passed, clock } = uses
  const { open } = vault
  const defaultModel = models.resolve(null).name
  const squads = findSquad(uses)
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
  const squadList = squadRoutes({ listSquads: listSquads(uses) })
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
        instructionRoutes({ ...all, getAgent: getAgent(uses.agents), passed }),
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
