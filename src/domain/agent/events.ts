import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { agentLimits } from '../run-limits.ts'

const text = z.string()
const texts = z.record(z.string(), z.string())

/** Tools that come with the platform, by name. */
export const builtInTools = [
  'end_call',
  'transfer_call',
  'search_knowledge',
  'remember',
  'recall',
  'generate_content',
] as const

export const agentTypes = ['LLM_AGENT', 'SEQUENTIAL_AGENT', 'PARALLEL_AGENT', 'LOOP_AGENT'] as const

/** Built-in tools that do something, so that somebody may have to agree to a call. */
export const approvableTools = ['remember', 'generate_content'] as const

/** Calls wait until somebody agrees. `approvalTtl`: seconds after which they are denied. */
const consent = {
  requiresApproval: z.boolean().optional(),
  /** The session's user, or an admin of the organization. */
  approver: z.enum(['user', 'admin']).optional(),
  approvalTtl: z.int().min(1).optional(),
}

/** What a call does elsewhere, and what is done where it is not known whether it was made. */
const care = {
  effect: z.enum(['read', 'write']).optional(),
  onUnknown: z.enum(['tell', 'ask']).optional(),
  ...consent,
}

/** A custom HTTP call. A header value may be `{{credential:NAME}}`: the calling user's own. */
const apiCall = z.object({
  type: z.literal('api_call'),
  name: text,
  description: text,
  method: text,
  /** A template: `{name}` stands for the parameter of that name. */
  url: text,
  headers: texts,
  /** JSON Schema of the arguments. */
  parameters: z.record(z.string(), z.unknown()),
  /** Sent with each call; the same for a call that is made again. */
  idempotencyHeader: text.optional(),
  ...care,
})

const approvable = z.object({ type: z.enum(approvableTools), ...consent })

/** What is said of a server holds for its tools, unless a tool has its own under `tools`. */
const mcpServer = z.object({
  name: text,
  url: text,
  headers: texts,
  tools: z.record(text, z.object(care)).optional(),
  ...care,
})

/** The description of a credential for the person who connects it. */
const credentialWords = z.object({
  name: text,
  label: text.optional(),
  description: text.optional(),
  /** Where to find the value. */
  helpUrl: text.optional(),
})
export type CredentialWords = z.infer<typeof credentialWords>

/** All that an agent is configured by (docs/contract/admin-api.md#agents). */
const configuration = z.object({
  name: text,
  description: text,
  agentType: z.enum(agentTypes),
  /** `provider/model`; null for the platform's default, and for agents that only run others. */
  model: text.nullable(),
  instruction: text,
  isActive: z.boolean(),
  /** Built-in tools by name, custom ones in full. */
  tools: z.array(z.union([z.enum(builtInTools), apiCall, approvable])),
  mcpServers: z.array(mcpServer),
  credentials: z.array(credentialWords).optional(),
  /** Agent ids, in the order in which they run. */
  subAgents: z.array(text),
  datastoreIds: z.array(text),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
  outputKey: text.nullable(),
  maxIterations: z.int().nullable(),
  exitCondition: text.nullable(),
  /** Words of its answers call tools; absent: they do. */
  keywordTools: z.boolean().optional(),
  /** Of runs that begin with it; null: none. */
  limits: agentLimits.nullable().optional(),
})

const identity = z.object({ agentId: text })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const agentEvents = {
  AgentCreated: configuration.extend(identity.shape),
  AgentChanged: configuration.partial().extend(identity.shape),
  AgentDeleted: identity,
}

export type AgentConfigEvent<Type extends keyof typeof agentEvents = keyof typeof agentEvents> =
  EventOf<typeof agentEvents, Type>

export type AgentConfiguration = z.infer<typeof configuration>

export type ConfiguredTool = AgentConfiguration['tools'][number]
export type ApiCallConfig = Extract<ConfiguredTool, { type: 'api_call' }>
export type McpServerConfig = AgentConfiguration['mcpServers'][number]

/** How a tool is to be used, as far as it is said. */
export type ToolCare = z.infer<z.ZodObject<typeof care>>

export const isApiCall = (tool: ConfiguredTool): tool is ApiCallConfig =>
  typeof tool !== 'string' && tool.type === 'api_call'

/** By what a model knows a tool. */
export const toolName = (tool: ConfiguredTool): string =>
  typeof tool === 'string' ? tool : isApiCall(tool) ? tool.name : tool.type
