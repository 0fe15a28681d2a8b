import {
  type AgentConfigEvent,
  type AgentConfiguration,
  agentEvents,
} from '../src/domain/agent/events.ts'
import type { Projection } from './projection.ts'

/** The contract's list item, and below it what the agent is configured by. */
export type AgentView = {
  agent_id: string
  name: string
  agent_type: AgentConfiguration['agentType']
  description: string
  is_active: boolean
  model: string | null
  has_tools: boolean
  has_mcp: boolean
  organization_id: string
  instruction: string
  tools: AgentConfiguration['tools']
  mcp_servers: AgentConfiguration['mcpServers']
  sub_agents: string[]
  datastore_ids: string[]
  temperature: number | null
  max_tokens: number | null
  output_key: string | null
  max_iterations: number | null
  exit_condition: string | null
  created_at: string
  updated_at: string
}

type Change = AgentConfigEvent<'AgentChanged'>['data']

const or = <Value>(changed: Value | undefined, value: Value): Value =>
  changed === undefined ? value : changed

const changed = (view: AgentView, change: Change, at: string): AgentView => {
  const tools = or(change.tools, view.tools)
  const mcpServers = or(change.mcpServers, view.mcp_servers)
  return {
    ...view,
    name: or(change.name, view.name),
    agent_type: or(change.agentType, view.agent_type),
    description: or(change.description, view.description),
    is_active: or(change.isActive, view.is_active),
    model: or(change.model, view.model),
    has_tools: tools.length > 0,
    has_mcp: mcpServers.length > 0,
    instruction: or(change.instruction, view.instruction),
    tools,
    mcp_servers: mcpServers,
    sub_agents: or(change.subAgents, view.sub_agents),
    datastore_ids: or(change.datastoreIds, view.datastore_ids),
    temperature: or(change.temperature, view.temperature),
    max_tokens: or(change.maxTokens, view.max_tokens),
    output_key: or(change.outputKey, view.output_key),
    max_iterations: or(change.maxIterations, view.max_iterations),
    exit_condition: or(change.exitCondition, view.exit_condition),
    updated_at: at,
  }
}

export const agents: Projection<AgentView, typeof agentEvents> = {
  name: 'agents',
  categories: ['squad'],
  events: agentEvents,
  indexes: {
    by_organization: { equals: ['organization_id'], orderBy: 'created_at' },
    by_type: { equals: ['organization_id', 'agent_type'], orderBy: 'created_at' },
    by_active: { equals: ['organization_id', 'is_active'], orderBy: 'created_at' },
    by_type_and_active: {
      equals: ['organization_id', 'agent_type', 'is_active'],
      orderBy: 'created_at',
    },
  },
  id: ({ data }) => data.agentId,
  creates: {
    AgentCreated: ({ data, metadata }, id) => ({
      agent_id: id,
      name: data.name,
      agent_type: data.agentType,
      description: data.description,
      is_active: data.isActive,
      model: data.model,
      has_tools: data.tools.length > 0,
      has_mcp: data.mcpServers.length > 0,
      organization_id: metadata.organization_id,
      instruction: data.instruction,
      tools: data.tools,
      mcp_servers: data.mcpServers,
      sub_agents: data.subAgents,
      datastore_ids: data.datastoreIds,
      temperature: data.temperature,
      max_tokens: data.maxTokens,
      output_key: data.outputKey,
      max_iterations: data.maxIterations,
      exit_condition: data.exitCondition,
      created_at: metadata.at,
      updated_at: metadata.at,
    }),
  },
  changes: {
    AgentChanged: (view, { data, metadata }) => changed(view, data, metadata.at),
  },
  removes: ['AgentDeleted'],
}
