import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

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
})

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
  tools: z.array(z.union([z.enum(builtInTools), apiCall])),
  mcpServers: z.array(z.object({ name: text, url: text, headers: texts })),
  /** Agent ids, in the order in which they run. */
  subAgents: z.array(text),
  datastoreIds: z.array(text),
  temperature: z.number().nullable(),
  maxTokens: z.int().nullable(),
  outputKey: text.nullable(),
  maxIterations: z.int().nullable(),
  exitCondition: text.nullable(),
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
