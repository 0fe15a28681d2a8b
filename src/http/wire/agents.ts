import { z } from 'zod'
import { serversOf, toolsOf } from '../../../projections/agent-tools.ts'
import { agentView, limitsIn, wordsOf } from '../../../projections/agents.ts'
import {
  type AgentConfiguration,
  agentTypes,
  approvableTools,
  builtInTools,
} from '../../domain/agent/events.ts'
import type { Change } from '../../domain/changes.ts'
import { credentialName } from '../../domain/credential/credential.ts'
import { list } from '../../support/bounded-schema.ts'
import { headers, mcpServer, shortened, tool } from './agent-tools.ts'
import { credits, id, name, orAbsent } from './fields.ts'

export const agentType = z.enum(agentTypes)

/** As many as a connect page can have, of both kinds. */
const mostCredentials = 40

const isHelpUrl = (text: string): boolean => {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return protocol === 'https:' && username === '' && password === ''
}

const credentialWords = z.strictObject({
  name: z
    .string()
    .regex(credentialName, 'A name is capitals, digits and _, begins with a letter, at most 64'),
  label: orAbsent(z.string().trim().min(1).max(100)),
  description: orAbsent(z.string().trim().min(1).max(500)),
  help_url: orAbsent(z.string().max(2_000).refine(isHelpUrl, 'An https address is expected')),
})

/** A null counts as absent. */
const runLimits = z.strictObject({
  max_steps: orAbsent(z.int().min(1).max(10_000)),
  max_tokens: orAbsent(z.int().min(1).max(1e9)),
  max_credits: orAbsent(credits(0.000001, 1e6)),
  max_seconds: orAbsent(z.int().min(1).max(1_800)),
})

const settings = {
  description: z.string().max(4_000),
  agent_type: agentType,
  model: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .nullable()
    .describe('provider/model; null: the platform’s default'),
  instruction: z.string().max(64_000),
  is_active: z.boolean(),
  tools: list(tool).max(64),
  mcp_servers: list(mcpServer).max(20),
  credentials: list(credentialWords)
    .max(mostCredentials)
    .refine(
      (all) => new Set(all.map(({ name }) => name)).size === all.length,
      'A credential is described once',
    )
    .describe('What the connect page says of the credentials that headers name'),
  sub_agents: list(z.string().min(1).max(64)).max(100).describe('Agent ids, in order'),
  datastore_ids: list(id).max(100),
  temperature: z.number().min(0).max(2).nullable(),
  max_tokens: z.int().min(1).max(1_000_000).nullable(),
  output_key: z
    .string()
    .regex(/^[A-Za-z_]\w{0,63}$/, 'A key has 1 to 64 letters, digits and _, a digit not first')
    .nullable(),
  max_iterations: z.int().min(1).max(100).nullable(),
  exit_condition: z.string().trim().min(1).max(200).nullable(),
  keyword_tools: z.boolean(),
  limits: runLimits.nullable().describe('Of a whole run that begins with the agent'),
}

export const agentChange = z.strictObject({ name, ...settings }).partial()
export const newAgent = z.strictObject(settings).partial().extend({ name })

export const instruction = settings.instruction

/** An agent as the public list shows it. */
export const agentItem = agentView
  .pick({
    agent_id: true,
    name: true,
    agent_type: true,
    description: true,
    is_active: true,
    model: true,
    has_tools: true,
    has_mcp: true,
  })
  .extend({ model: z.string().nullable().describe('Null for agents that only run others') })

const serverStatus = z
  .object({
    state: z.enum(['ok', 'failing', 'unknown']),
    last_error: z.string().nullable(),
    checked_at: z.iso.datetime().nullable(),
    left_out: z
      .array(z.object({ tool: z.string(), reason: z.string() }))
      .optional()
      .describe('Tools that the server lists and that cannot be used, up to 20'),
  })
  .describe('How the server answered this node when it was last asked')

/** An agent with its whole configuration. Tools and servers may get more fields. */
export const wholeAgent = agentView.omit({ organization_id: true }).extend({
  tools: z.array(
    z.union([
      z.enum(builtInTools),
      z.looseObject({ type: z.enum(['api_call', ...approvableTools]) }),
    ]),
  ),
  mcp_servers: z.array(
    z.looseObject({ name: z.string(), url: z.string(), headers, status: serverStatus }),
  ),
})

/**
 * A body's agent configuration, in the commands' terms; its tools and servers are checked apart.
 */
export const configurationOf = (body: z.infer<typeof agentChange>): Change<AgentConfiguration> => {
  return {
    name: body.name,
    description: body.description,
    agentType: body.agent_type,
    model: body.model,
    instruction: body.instruction,
    isActive: body.is_active,
    tools: body.tools && toolsOf(body.tools.map(shortened)),
    mcpServers:
      body.mcp_servers && serversOf(body.mcp_servers.map(({ status: _, ...server }) => server)),
    credentials: body.credentials?.map(wordsOf),
    subAgents: body.sub_agents,
    datastoreIds: body.datastore_ids,
    temperature: body.temperature,
    maxTokens: body.max_tokens,
    outputKey: body.output_key,
    maxIterations: body.max_iterations,
    exitCondition: body.exit_condition,
    keywordTools: body.keyword_tools,
    limits: body.limits && limitsIn(body.limits),
  }
}
