/** What the API says of agents, as far as forms need it; agents of the typed client fit. */

export type AgentType = 'LLM_AGENT' | 'SEQUENTIAL_AGENT' | 'PARALLEL_AGENT' | 'LOOP_AGENT'

export type BuiltInTool =
  | 'end_call'
  | 'transfer_call'
  | 'search_knowledge'
  | 'remember'
  | 'recall'
  | 'generate_content'

/** A built-in tool by its name, or with settings. */
export type Tool =
  | BuiltInTool
  | ({ type: 'api_call' | 'remember' | 'generate_content' } & { [setting: string]: unknown })

type ServerStatus = {
  state: 'ok' | 'failing' | 'unknown'
  last_error: string | null
  checked_at: string | null
}

export type Server = {
  name: string
  url: string
  headers: { [name: string]: string }
  status: ServerStatus
} & { [setting: string]: unknown }

/** What the connect page says of a credential that headers name. */
export type Credential = {
  name: string
  label?: string | undefined
  description?: string | undefined
  help_url?: string | undefined
}

type Limits = {
  max_steps?: number | undefined
  max_tokens?: number | undefined
  max_credits?: number | undefined
  max_seconds?: number | undefined
}

export type AgentSettings = {
  name: string
  description: string
  agent_type: AgentType
  model: string | null
  instruction: string
  is_active: boolean
  tools: readonly Tool[]
  mcp_servers: readonly Server[]
  credentials?: readonly Credential[] | undefined
  sub_agents: readonly string[]
  datastore_ids: readonly string[]
  temperature: number | null
  max_tokens: number | null
  output_key: string | null
  max_iterations: number | null
  exit_condition: string | null
  keyword_tools?: boolean | undefined
  limits?: Limits | null | undefined
}

/** By what a model knows a tool. */
export const toolNameOf = (tool: Tool): string =>
  typeof tool === 'string' ? tool : tool.type === 'api_call' ? String(tool.name) : tool.type
