import type { Clock } from '../ports/clock.ts'
import { isoTime } from '../support/iso-time.ts'
import type { AgentEvent } from './agent-event.ts'

type TokenAgent = Extract<AgentEvent, { event: 'token_agent' }>

/** Whether tokens mingle from here on. */
export const mingles = (event: AgentEvent): boolean =>
  event.event === 'agent_started' && event.agent_type === 'PARALLEL_AGENT'

/**
 * From the first PARALLEL_AGENT of a turn on, tokens are preceded by `token_agent` whenever their
 * producer changes. Answers what precedes an event. Stands where all branches have come together,
 * so that the order it sees is the order the client sees.
 */
export const attribution = (clock: Clock): ((event: AgentEvent) => TokenAgent | undefined) => {
  let producer = ''
  return (event) => {
    if (event.event !== 'token' || event.step_id === producer) return undefined
    producer = event.step_id
    return { event: 'token_agent', agent: event.agent, timestamp: isoTime(clock.now().getTime()) }
  }
}
