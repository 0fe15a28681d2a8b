import { type Aggregate, streamOf } from '../aggregate.ts'
import { changed } from '../changes.ts'
import { type AgentConfiguration, type AgentEvent, agentEvents } from './events.ts'

export type Agent =
  | { status: 'unknown' | 'deleted' }
  | { status: 'created'; configuration: AgentConfiguration }

export const agent: Aggregate<Agent, typeof agentEvents> = {
  category: 'agent',
  events: agentEvents,
  initial: { status: 'unknown' },
  evolve: {
    AgentCreated: (_, configuration) => ({ status: 'created', configuration }),
    AgentChanged: (state, change) =>
      state.status === 'created'
        ? { ...state, configuration: changed(state.configuration, change) }
        : state,
    AgentDeleted: () => ({ status: 'deleted' }),
  },
}

export const agentStream = (organizationId: string, agentId: string) =>
  streamOf(agent, organizationId, agentId)

/** An agent of that id is created once, also when it was deleted since. */
export const decideCreate =
  (data: AgentConfiguration) =>
  ({ status }: Agent): AgentEvent<'AgentCreated'>[] =>
    status === 'unknown' ? [{ type: 'AgentCreated', data }] : []
