import type { AgentConfiguration } from '../domain/agent/events.ts'
import { limitWords, type ReachedLimit } from '../domain/run-limits.ts'

export type AgentType = AgentConfiguration['agentType']

/** What an agent is made of (docs/contract/agents.md#types). The orchestrator is an LLM agent. */
export type AgentConfig = AgentConfiguration & { agentId: string }

/** The agents cannot be run as they are configured (500 orchestrator_error). */
export class AgentFault extends Error {
  override readonly name = 'AgentFault'
}

/** The client brings a tool of a name that an agent in the turn has already. */
export class ToolNameTaken extends Error {
  override readonly name = 'ToolNameTaken'
}

/** The turn took longer than it may (504). */
export class TurnTimeout extends Error {
  override readonly name = 'TurnTimeout'
}

/**
 * An agent waits for somebody outside: the run stops, and another attempt resumes it from there.
 */
export class Paused extends Error {
  override readonly name = 'Paused'
}

/** A limit of the agent that the run began with ended it (422). */
export class LimitReached extends Error {
  override readonly name = 'LimitReached'
  readonly reached: ReachedLimit

  constructor(reached: ReachedLimit) {
    super(limitWords(reached))
    this.reached = reached
  }
}
