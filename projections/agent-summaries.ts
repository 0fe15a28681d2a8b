import { z } from 'zod'
import { credentialsNamed } from '../src/domain/agent/credential-names.ts'
import { type AgentConfigEvent, agentEvents, agentTypes } from '../src/domain/agent/events.ts'
import { credentialLimit } from '../src/domain/credential/credential-limit.ts'
import { id, incomplete, listPosition, text, timestamp } from './fields.ts'
import { projection } from './projection.ts'

/** An agent without its large fields, for lists and look-ups of many agents. */
export const agentSummary = z.object({
  agent_id: id,
  organization_id: id,
  name: text,
  agent_type: z.enum(agentTypes),
  description: text,
  is_active: z.boolean(),
  model: text.nullable(),
  has_tools: z.boolean(),
  has_mcp: z.boolean(),
  sub_agents: z.array(id),
  /** Credentials that its tools and servers name, sorted; at most as many as a user can have. */
  tool_credentials: z.array(text),
  server_credentials: z.array(text),
  /** The random suffix of its id, which identifies it as a tool. */
  id_end: text,
  created_at: timestamp,
  /** Position of its creation. */
  position: listPosition,
  incomplete,
})
export type AgentSummary = z.infer<typeof agentSummary>

/** The random suffix of an agent's id. */
export const endOf = (agentId: string): string => agentId.slice(-12)

const credentialNames = (...[headers]: Parameters<typeof credentialsNamed>): string[] =>
  credentialsNamed(headers).toSorted().slice(0, credentialLimit)

type Tools = AgentConfigEvent<'AgentCreated'>['data']['tools']
type Servers = AgentConfigEvent<'AgentCreated'>['data']['mcpServers']

const ofTools = (tools: Tools) => ({
  has_tools: tools.length > 0,
  tool_credentials: credentialNames({ tools, mcpServers: [] }),
})
const ofServers = (mcpServers: Servers) => ({
  has_mcp: mcpServers.length > 0,
  server_credentials: credentialNames({ tools: [], mcpServers }),
})

export const agentSummaries = projection<AgentSummary, typeof agentEvents>()({
  name: 'agent_summaries',
  schema: agentSummary,
  categories: ['squad'],
  events: agentEvents,
  indexes: {
    by_organization: { equals: ['organization_id'], orderBy: 'position' },
    by_type: { equals: ['organization_id', 'agent_type'], orderBy: 'position' },
    by_active: { equals: ['organization_id', 'is_active'], orderBy: 'position' },
    by_type_and_active: {
      equals: ['organization_id', 'agent_type', 'is_active'],
      orderBy: 'position',
    },
    active_by_id: { equals: ['organization_id', 'is_active'], orderBy: 'agent_id' },
    by_id_end: { equals: ['organization_id', 'id_end'] },
  },
  id: ({ data }) => data.agentId,
  ofStream: ({ metadata }) => ({
    index: 'by_organization',
    equals: [metadata.organization_id],
  }),
  creates: {
    AgentCreated: ({ data, metadata, position }, id) => ({
      agent_id: id,
      organization_id: metadata.organization_id,
      name: data.name,
      agent_type: data.agentType,
      description: data.description,
      is_active: data.isActive,
      model: data.model,
      ...ofTools(data.tools),
      ...ofServers(data.mcpServers),
      sub_agents: data.subAgents,
      id_end: endOf(id),
      created_at: metadata.at,
      position,
    }),
  },
  changes: {
    AgentChanged: (view, { data }) => ({
      ...view,
      name: data.name ?? view.name,
      agent_type: data.agentType ?? view.agent_type,
      description: data.description ?? view.description,
      is_active: data.isActive ?? view.is_active,
      model: data.model === undefined ? view.model : data.model,
      ...(data.tools && ofTools(data.tools)),
      ...(data.mcpServers && ofServers(data.mcpServers)),
      sub_agents: data.subAgents ?? view.sub_agents,
    }),
  },
  removes: ['AgentDeleted'],
  ignores: {},
})
