import type { ListToolsResult } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { type AgentSummary, endOf } from '../../../projections/agent-summaries.ts'
import type { FindAgentTool, ListAgentTools } from '../../../queries/list-agent-tools.ts'
import { cutText } from '../../support/cut-text.ts'
import { pendingApprovals } from '../wire/approvals.ts'
import { orAbsent, sessionId } from '../wire/fields.ts'

type Tool = ListToolsResult['tools'][number]

/** What a tool is called with. */
export const toolArguments = z.object({
  message: z.string().min(1).describe('What to ask the agent'),
  session_id: orAbsent(sessionId).describe('Continues a conversation; absent: begins one'),
})

/** What a tool answers, beside the text. */
export const toolResult = z.object({
  session_id: z.string().describe('To continue this conversation'),
  agent_id: z.string(),
  agent_name: z.string(),
  response: z.string(),
  created: z.int().describe('Unix seconds'),
  state: z
    .enum(['awaiting_approval', 'in_doubt'])
    .optional()
    .describe('The turn is not over: it waits for somebody. The response is what was said so far'),
  pending_approvals: pendingApprovals.optional(),
})

/** A tool as JSON Schema describes it. */
const schemaOf = (schema: z.ZodObject, io: 'input' | 'output'): Tool['inputSchema'] => {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, { io })
  return JSON.parse(JSON.stringify(jsonSchema))
}
const inputSchema = schemaOf(toolArguments, 'input')
const outputSchema = schemaOf(toolResult, 'output')

const longestSlug = 40
const longestDescription = 1_024
/** The suffix of an agent's id identifies it under every name that it has had. */
const named = /_(?<end>[0-9a-f]{12})$/

const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase()
    .slice(0, longestSlug) || 'agent'

/** 1 to 64 characters of a-z, 0-9 and _: what every client and model provider takes. */
const toolName = ({ name, agent_id }: AgentSummary): string => `${slugOf(name)}_${endOf(agent_id)}`

const toolOf = (agent: AgentSummary): Tool => ({
  name: toolName(agent),
  title: agent.name,
  description: cutText(agent.description || `Asks the agent ${agent.name}`, longestDescription),
  inputSchema,
  outputSchema,
  annotations: { title: agent.name, openWorldHint: true },
})

/** The active agent that a tool stands for, also after it was renamed. */
export const agentNamed = async (
  findAgentTool: FindAgentTool,
  organizationId: string,
  tool: string,
): Promise<AgentSummary | undefined> => {
  const { end } = tool.match(named)?.groups ?? {}
  return end === undefined ? undefined : findAgentTool(organizationId, end)
}

/** One page of the active agents as tools, in the order of their ids. */
export const toolsPage = ({
  agents,
  next,
}: Awaited<ReturnType<ListAgentTools>>): ListToolsResult => ({
  tools: agents.map(toolOf),
  ...(next === undefined ? {} : { nextCursor: next }),
})
