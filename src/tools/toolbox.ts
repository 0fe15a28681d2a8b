import { from, map, type Observable, of } from 'rxjs'
import type { RememberCommand } from '../../commands/remember.ts'
import type { FindCredential } from '../../queries/find-credential.ts'
import type { RecallMemories } from '../../queries/recall-memories.ts'
import type { AgentConfig } from '../agents/agent.ts'
import type { Tool } from '../agents/tool.ts'
import { transferName } from '../agents/transfer.ts'
import type { AgentTurn } from '../agents/turn.ts'
import {
  type ApiCallConfig,
  type ConfiguredTool,
  isApiCall,
  toolName,
} from '../domain/agent/events.ts'
import type { Clock } from '../ports/clock.ts'
import type { ContentGeneration } from '../ports/content-generation.ts'
import type { JsonSchemas } from '../ports/json-schemas.ts'
import type { Knowledge } from '../ports/knowledge.ts'
import type { Outbound } from '../ports/outbound.ts'
import { apiCalls } from './api-call.ts'
import { credentialHeaders } from './credential-headers.ts'
import { generateContentTool } from './generate-content.ts'
import { type McpTools, mcpTools } from './mcp.ts'
import { recallTool } from './recall.ts'
import { rememberTool } from './remember.ts'
import { distinctName, functionName } from './results.ts'
import { searchKnowledgeTool } from './search-knowledge.ts'
import { policyOf } from './tool-policy.ts'

type Uses = {
  outbound: Outbound
  findCredential: FindCredential
  remember: RememberCommand
  recallMemories: RecallMemories
  /** Checks the arguments of calls. */
  misfitOf: JsonSchemas['misfitOf']
  clock: Clock
  /** The tools of each are offered only if it is given. */
  knowledge?: Knowledge
  contentGeneration?: ContentGeneration
}

/** Names that the runtime itself gives to tools. */
const reservedNames = [transferName, 'exit_loop']

const rename = (tool: Tool, name: string): Tool => ({ ...tool, spec: { ...tool.spec, name } })

/**
 * Makes names unique: of two tools of one name the first keeps it, one of a server gets the
 * server's name in front, and a third also a digest of what it calls.
 */
const withDistinctNames = (own: readonly Tool[], servers: readonly McpTools[]): Tool[] => {
  const names = new Set(reservedNames)
  const distinct: Tool[] = []
  const add = (tool: Tool): boolean => {
    if (names.has(tool.spec.name)) return false
    names.add(tool.spec.name)
    distinct.push(tool)
    return true
  }
  own.forEach(add)
  for (const { server, tools } of servers)
    for (const tool of tools) {
      if (add(tool)) continue
      const longer = functionName(server, tool.spec.name)
      if (add(rename(tool, longer))) continue
      add(rename(tool, distinctName(longer, tool.definition?.() ?? server)))
    }
  return distinct
}

/** The tools an agent is configured with, as the runtime's host gives them to a turn. */
export const toolbox = (uses: Uses) => {
  const { outbound, misfitOf, clock, knowledge, contentGeneration } = uses
  const headers = credentialHeaders({ findCredential: uses.findCredential })
  const apiCall = apiCalls({ outbound, credentialHeaders: headers, misfitOf, clock })
  const mcp = mcpTools({ outbound, credentialHeaders: headers, clock })
  const builtIn = new Map<string, Tool>([
    ['remember', rememberTool(uses)],
    ['recall', recallTool(uses.recallMemories)],
  ])
  if (contentGeneration) builtIn.set('generate_content', generateContentTool(contentGeneration))
  const search = knowledge && searchKnowledgeTool(knowledge)

  const builtInTool = (configured: Exclude<ConfiguredTool, ApiCallConfig>): Tool[] => {
    const tool = builtIn.get(toolName(configured))
    if (!tool) return []
    if (typeof configured === 'string') return [tool]
    const { effect = 'write', keyed = false } = tool.policy ?? {}
    return [{ ...tool, policy: policyOf(configured, { effect, keyed }) }]
  }

  /** An agent with DataStores may search them, even when its tools do not list the search. */
  const ownTools = ({ tools, datastoreIds }: AgentConfig): Tool[] => {
    const own = tools.flatMap((tool) => (isApiCall(tool) ? apiCall(tool) : builtInTool(tool)))
    return search && datastoreIds.length > 0 ? [search, ...own] : own
  }

  /** Of agents without MCP servers; a changed configuration is another object. */
  const toolsByAgent = new WeakMap<AgentConfig, Observable<readonly Tool[]>>()
  const toolsWithoutServers = (agent: AgentConfig): Observable<readonly Tool[]> => {
    const cached = toolsByAgent.get(agent)
    if (cached) return cached
    const tools = of(withDistinctNames(ownTools(agent), []))
    toolsByAgent.set(agent, tools)
    return tools
  }

  return {
    toolsOf(agent: AgentConfig, { call }: AgentTurn): Observable<readonly Tool[]> {
      if (agent.mcpServers.length === 0) return toolsWithoutServers(agent)
      const serverTools = from(mcp.toolsOf(agent.mcpServers, call))
      return serverTools.pipe(map((servers) => withDistinctNames(ownTools(agent), servers)))
    },
    /** How MCP servers answer, and a way to ask them in the background. */
    mcp: { standingOf: mcp.standingOf, check: mcp.check },
    /** Ends the connections to MCP servers. */
    close: mcp.close,
  }
}
export type Toolbox = ReturnType<typeof toolbox>
