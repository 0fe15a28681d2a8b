import { z } from 'zod'
import type { AgentSettings, AgentType, Credential, Server, Tool } from './agent-types.ts'

/** An agent's settings while they are edited: numbers as they were typed, '' for none. */
export type Draft = {
  name: string
  description: string
  agent_type: AgentType
  model: string
  instruction: string
  is_active: boolean
  tools: readonly Tool[]
  mcp_servers: readonly Server[]
  credentials: readonly Credential[]
  sub_agents: readonly string[]
  datastore_ids: readonly string[]
  temperature: string
  max_tokens: string
  output_key: string
  max_iterations: string
  exit_condition: string
  keyword_tools: boolean
  limit_steps: string
  limit_tokens: string
  limit_credits: string
  limit_seconds: string
}

const numberText = (value: number | null | undefined): string =>
  value === null || value === undefined ? '' : String(value)

export const emptyDraft: Draft = {
  name: '',
  description: '',
  agent_type: 'LLM_AGENT',
  model: '',
  instruction: '',
  is_active: true,
  tools: [],
  mcp_servers: [],
  credentials: [],
  sub_agents: [],
  datastore_ids: [],
  temperature: '',
  max_tokens: '',
  output_key: '',
  max_iterations: '',
  exit_condition: '',
  keyword_tools: true,
  limit_steps: '',
  limit_tokens: '',
  limit_credits: '',
  limit_seconds: '',
}

export const draftOf = (agent: AgentSettings): Draft => ({
  name: agent.name,
  description: agent.description,
  agent_type: agent.agent_type,
  model: agent.model ?? '',
  instruction: agent.instruction,
  is_active: agent.is_active,
  tools: agent.tools,
  mcp_servers: agent.mcp_servers,
  credentials: agent.credentials ?? [],
  sub_agents: agent.sub_agents,
  datastore_ids: agent.datastore_ids,
  temperature: numberText(agent.temperature),
  max_tokens: numberText(agent.max_tokens),
  output_key: agent.output_key ?? '',
  max_iterations: numberText(agent.max_iterations),
  exit_condition: agent.exit_condition ?? '',
  keyword_tools: agent.keyword_tools ?? true,
  limit_steps: numberText(agent.limits?.max_steps),
  limit_tokens: numberText(agent.limits?.max_tokens),
  limit_credits: numberText(agent.limits?.max_credits),
  limit_seconds: numberText(agent.limits?.max_seconds),
})

const atMost = (length: number) =>
  z.string().max(length, `At most ${length.toLocaleString('en')} characters`)

const integer = (least: number, most: number) => {
  const words = `A whole number from ${least} to ${most.toLocaleString('en')}, or nothing`
  return z
    .string()
    .refine((text) => text.trim() === '' || /^\d+$/.test(text.trim()), words)
    .refine((text) => {
      const value = Number(text)
      return text.trim() === '' || (value >= least && value <= most)
    }, words)
}

const decimal = (least: number, most: number, words: string) =>
  z.string().refine((text) => {
    const value = Number(text)
    return text.trim() === '' || (Number.isFinite(value) && value >= least && value <= most)
  }, words)

/** The limits of docs/contract/agent-settings.md; a test compares them with the API's schema. */
const fields = z.object({
  name: z.string().trim().min(1, 'A name is required').max(200, 'At most 200 characters'),
  description: atMost(4_000),
  model: z.string().trim().max(200, 'At most 200 characters'),
  instruction: atMost(64_000),
  tools: z.array(z.unknown()).max(64, 'At most 64 tools'),
  mcp_servers: z.array(z.unknown()).max(20, 'At most 20 servers'),
  credentials: z.array(z.unknown()).max(40, 'At most 40 credentials'),
  sub_agents: z.array(z.unknown()).max(100, 'At most 100 agents'),
  datastore_ids: z.array(z.unknown()).max(100, 'At most 100 DataStores'),
  temperature: decimal(0, 2, 'A number from 0 to 2, or nothing'),
  max_tokens: integer(1, 1_000_000),
  output_key: z
    .string()
    .regex(
      /^([A-Za-z_][A-Za-z0-9_]{0,63})?$/,
      '1 to 64 letters, digits and _, beginning with a letter or _',
    ),
  max_iterations: integer(1, 100),
  exit_condition: z.string().trim().max(200, 'At most 200 characters'),
  limit_steps: integer(1, 10_000),
  limit_tokens: integer(1, 1_000_000_000),
  limit_credits: decimal(0.000001, 1_000_000, 'A number above 0, at most a million, or nothing'),
  limit_seconds: integer(1, 1_800),
})

export type Faults = Readonly<Record<string, string>>

/** What is wrong with each field, while it is typed. */
export const faultsOf = (draft: Draft): Faults => {
  const { error } = fields.safeParse(draft)
  const faults: Record<string, string> = {}
  for (const { path, message } of error?.issues ?? []) faults[String(path[0])] ??= message
  return faults
}

/** The field of the form for a `param` or path of the API: `tools.0.url` belongs to `tools`. */
export const fieldOf = (param: string): string => {
  const [field = '', part] = param.split('.')
  const limits: Readonly<Record<string, string>> = {
    max_steps: 'limit_steps',
    max_tokens: 'limit_tokens',
    max_credits: 'limit_credits',
    max_seconds: 'limit_seconds',
  }
  return field === 'limits' && part !== undefined ? (limits[part] ?? field) : field
}

const numberOrNull = (text: string): number | null => (text.trim() === '' ? null : Number(text))
const textOrNull = (text: string): string | null => (text.trim() === '' ? null : text.trim())

const limitsOf = (draft: Draft) => {
  const limits = Object.entries({
    max_steps: numberOrNull(draft.limit_steps),
    max_tokens: numberOrNull(draft.limit_tokens),
    max_credits: numberOrNull(draft.limit_credits),
    max_seconds: numberOrNull(draft.limit_seconds),
  }).filter(([, value]) => value !== null)
  return limits.length === 0 ? null : Object.fromEntries(limits)
}

/** The settings of a draft as the API takes them; how servers answered is no setting. */
export const settingsOf = (draft: Draft) => ({
  name: draft.name.trim(),
  description: draft.description,
  agent_type: draft.agent_type,
  model: textOrNull(draft.model),
  instruction: draft.instruction,
  is_active: draft.is_active,
  tools: draft.tools,
  mcp_servers: draft.mcp_servers.map(({ status: _, ...server }) => server),
  credentials: draft.credentials,
  sub_agents: draft.sub_agents,
  datastore_ids: draft.datastore_ids,
  temperature: numberOrNull(draft.temperature),
  max_tokens: numberOrNull(draft.max_tokens),
  output_key: textOrNull(draft.output_key),
  max_iterations: numberOrNull(draft.max_iterations),
  exit_condition: textOrNull(draft.exit_condition),
  keyword_tools: draft.keyword_tools,
  limits: limitsOf(draft),
})

export type Settings = ReturnType<typeof settingsOf>

/** The settings in which two drafts differ, with the values of the second. */
export const changesOf = (before: Draft, after: Draft): Partial<Settings> => {
  const former = settingsOf(before)
  return Object.fromEntries(
    Object.entries(settingsOf(after)).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(former[name as keyof Settings]),
    ),
  )
}

const settingNames = Object.keys(settingsOf(emptyDraft)) as (keyof Settings)[]

/** A former version's settings, of its document in the read model. */
export const settingsIn = (document: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    settingNames.filter((name) => name in document).map((name) => [name, document[name]]),
  )

export const settingLabels: Readonly<Record<string, string>> = {
  name: 'Name',
  description: 'Description',
  agent_type: 'Type',
  model: 'Model',
  instruction: 'Instruction',
  is_active: 'Active',
  tools: 'Tools',
  mcp_servers: 'MCP servers',
  credentials: 'Credentials',
  sub_agents: 'Sub-agents',
  datastore_ids: 'DataStores',
  temperature: 'Temperature',
  max_tokens: 'Tokens of an answer',
  output_key: 'Output key',
  max_iterations: 'Iterations',
  exit_condition: 'Exit condition',
  keyword_tools: 'Keyword tools',
  limits: 'Limits of a run',
}
