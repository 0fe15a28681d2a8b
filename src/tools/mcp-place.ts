import type { AgentConfig } from '../agents/agent.ts'
import type { Call } from '../ports/call.ts'
import type { HeaderValues } from './credential-headers.ts'

export type McpServer = AgentConfig['mcpServers'][number]

/** A connection's server and user: the headers hold the user's own credentials. */
export type McpPlace = { server: McpServer; headers: HeaderValues; call: Call }
