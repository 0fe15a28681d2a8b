import { type AgentLimits, limitsOfRun } from '../domain/run-limits.ts'
import type { TurnRequest } from './turn.ts'

/** The limits of the run of a turn; a run that goes on keeps those that it began with. */
export const limitsOf = ({ limits, agent, target }: TurnRequest): AgentLimits =>
  limits ?? limitsOfRun(agent, target)
