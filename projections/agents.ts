import { z } from 'zod'
import {
  type AgentConfigEvent,
  agentEvents,
  agentTypes,
  type CredentialWords,
} from '../src/domain/agent/events.ts'
import { creditUnit } from '../src/domain/amounts.ts'
import { agentServers, agentTools, serverViews, toolViews } from './agent-tools.ts'
import { count, id, inCredits, incomplete, text, timestamp } from './fields.ts'
import { projection } from './projection.ts'

const credentialWords = z.object({
  name: text,
  label: text.optional(),
  description: text.optional(),
  help_url: text.optional(),
})
type WordsView = z.infer<typeof credentialWords>

/** What is said of a credential, in its answer's shape. */
const wordsView = ({ helpUrl, ...words }: CredentialWords): WordsView =>
  helpUrl === undefined ? words : { ...words, help_url: helpUrl }

/** The same, as events have it. */
export const wordsOf = ({ name, label, description, help_url }: WordsView): CredentialWords => ({
  name,
  ...(label === undefined ? {} : { label }),
  ...(description === undefined ? {} : { description }),
  ...(help_url === undefined ? {} : { helpUrl: help_url }),
})

type AgentLimits = NonNullable<AgentConfigEvent<'AgentCreated'>['data']['limits']>

const limitsView = z
  .object({
    max_steps: count,
    max_tokens: count,
    max_credits: z.number(),
    max_seconds: count,
  })
  .partial()
type LimitsView = z.infer<typeof limitsView>

/** What runs may use, in its answer's shape. */
const limitsViewOf = (limits: AgentLimits | null): LimitsView | null => {
  if (!limits) return null
  const { steps, tokens, charge, seconds } = limits
  return {
    ...(steps === undefined ? {} : { max_steps: steps }),
    ...(tokens === undefined ? {} : { max_tokens: tokens }),
    ...(charge === undefined ? {} : { max_credits: inCredits(charge) }),
    ...(seconds === undefined ? {} : { max_seconds: seconds }),
  }
}

/** The same, as events have it. */
export const limitsIn = (view: LimitsView | null): AgentLimits | null => {
  if (!view) return null
  const { max_steps: steps, max_tokens: tokens, max_credits: credits, max_seconds: seconds } = view
  return {
    ...(steps === undefined ? {} : { steps }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(credits === undefined ? {} : { charge: Math.round(credits * creditUnit) }),
    ...(seconds === undefined ? {} : { seconds }),
  }
}

/** The contract's list item, and below it what the agent is configured by. */
export const agentView = z.object({
  agent_id: id,
  name: text,
  agent_type: z.enum(agentTypes),
  description: text,
  is_active: z.boolean(),
  model: text
    .nullable()
    .describe('Null: the platform’s default; agents that only run others have none'),
  has_tools: z.boolean(),
  has_mcp: z.boolean(),
  organization_id: id,
  instruction: text,
  tools: agentTools,
  mcp_servers: agentServers,
  credentials: z.array(credentialWords).optional(),
  sub_agents: z.array(id),
  datastore_ids: z.array(id),
  temperature: z.number().nullable(),
  max_tokens: count.nullable(),
  output_key: text.nullable(),
  max_iterations: count.nullable(),
  exit_condition: text.nullable(),
  keyword_tools: z.boolean().optional(),
  limits: limitsView.nullable().optional(),
  created_at: timestamp,
  updated_at: timestamp,
  incomplete,
})
export type AgentView = z.infer<typeof agentView>

type Change = AgentConfigEvent<'AgentChanged'>['data']

const or = <Value>(changed: Value | undefined, value: Value): Value =>
  changed === undefined ? value : changed

const changed = (view: AgentView, change: Change, at: string): AgentView => {
  const tools = or(change.tools && toolViews(change.tools), view.tools)
  const mcpServers = or(change.mcpServers && serverViews(change.mcpServers), view.mcp_servers)
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
    ...(change.credentials ? { credentials: change.credentials.map(wordsView) } : {}),
    sub_agents: or(change.subAgents, view.sub_agents),
    datastore_ids: or(change.datastoreIds, view.datastore_ids),
    temperature: or(change.temperature, view.temperature),
    max_tokens: or(change.maxTokens, view.max_tokens),
    output_key: or(change.outputKey, view.output_key),
    max_iterations: or(change.maxIterations, view.max_iterations),
    exit_condition: or(change.exitCondition, view.exit_condition),
    ...(change.keywordTools === undefined ? {} : { keyword_tools: change.keywordTools }),
    ...(change.limits === undefined ? {} : { limits: limitsViewOf(change.limits) }),
    updated_at: at,
  }
}

export const agents = projection<AgentView, typeof agentEvents>()({
  name: 'agents',
  schema: agentView,
  shown: { schema: agentView },
  categories: ['squad'],
  events: agentEvents,
  indexes: { by_organization: { equals: ['organization_id'], orderBy: 'created_at' } },
  id: ({ data }) => data.agentId,
  ofStream: ({ metadata }) => ({
    index: 'by_organization',
    equals: [metadata.organization_id],
  }),
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
      tools: toolViews(data.tools),
      mcp_servers: serverViews(data.mcpServers),
      ...(data.credentials ? { credentials: data.credentials.map(wordsView) } : {}),
      sub_agents: data.subAgents,
      datastore_ids: data.datastoreIds,
      temperature: data.temperature,
      max_tokens: data.maxTokens,
      output_key: data.outputKey,
      max_iterations: data.maxIterations,
      exit_condition: data.exitCondition,
      ...(data.keywordTools === undefined ? {} : { keyword_tools: data.keywordTools }),
      ...(data.limits === undefined ? {} : { limits: limitsViewOf(data.limits) }),
      created_at: metadata.at,
      updated_at: metadata.at,
    }),
  },
  changes: {
    AgentChanged: (view, { data, metadata }) => changed(view, data, metadata.at),
  },
  removes: ['AgentDeleted'],
  ignores: {},
})
