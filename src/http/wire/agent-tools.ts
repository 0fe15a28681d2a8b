import { z } from 'zod'
import { approvableTools, builtInTools } from '../../domain/agent/events.ts'
import { entries } from '../../support/bounded-schema.ts'
import { freeJson } from './fields.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'A name has 1 to 64 of A-Z a-z 0-9 _ -')
const url = z.string().trim().min(1).max(2_000)
export const headers = freeJson(entries(z.string(), z.string().max(4_000)))
  .describe('A value may hold {{credential:NAME}}: the calling user’s own')
  .default({})

/** The longest that a call waits for a decision: 30 days, in seconds. */
const longestApproval = 2_592_000

const consent = {
  requires_approval: z.boolean().describe('Calls wait until somebody agrees'),
  approver: z.enum(['user', 'admin']).describe('The session’s user (default), or an admin'),
  approval_ttl: z
    .int()
    .min(1)
    .max(longestApproval)
    .describe('Seconds after which a call is denied; default 86,400'),
}
const care = {
  effect: z
    .enum(['read', 'write'])
    .describe('read: a call may be made again. Default: by the method, or by the server’s hints'),
  on_unknown: z
    .enum(['tell', 'ask'])
    .describe(
      'Where it is not known whether a call was made: tell the model (default), or ask somebody',
    ),
  ...consent,
}
const careFields = z.object(care).partial().shape

const apiCall = z.strictObject({
  type: z.literal('api_call'),
  name: toolName,
  description: z.string().max(2_000).default(''),
  method: z.string().toUpperCase().pipe(z.enum(methods)),
  url: url.describe('A template: {name} stands for the parameter of that name'),
  headers,
  parameters: freeJson(z.record(z.string(), z.unknown()))
    .describe('JSON Schema of the arguments')
    .default({ type: 'object', properties: {} }),
  idempotency_header: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('A header for a key of the call, the same when it is made again'),
  ...careFields,
})

const approvable: ReadonlySet<string> = new Set(approvableTools)

const builtIn = z
  .strictObject({ type: z.enum(builtInTools), ...z.object(consent).partial().shape })
  .refine(
    ({ type, ...more }) => approvable.has(type) || Object.keys(more).length === 0,
    `Approval is for ${approvableTools.join(', ')} and calls of your own`,
  )

/** A built-in tool may be given by its name alone. */
export const tool = z
  .preprocess(
    (sent) => (typeof sent === 'string' ? { type: sent } : sent),
    z.discriminatedUnion('type', [apiCall, builtIn]),
  )
  .describe('An api_call, or a built-in tool, which may be given by its name alone')

type Tool = z.infer<typeof tool>

const isApprovable = (type: string): type is (typeof approvableTools)[number] =>
  approvable.has(type)

/** A built-in tool of which nothing is said is its name. */
export const shortened = (tool: Tool) => {
  if (tool.type === 'api_call') return tool
  const { type, ...consent } = tool
  return isApprovable(type) && Object.keys(consent).length > 0 ? { type, ...consent } : type
}

/**
 * What is said of a server holds for its tools, but for those that have an entry of their own. It
 * may be sent as it was read, with its status.
 */
export const mcpServer = z.strictObject({
  name: toolName,
  url,
  headers,
  ...careFields,
  tools: freeJson(entries(z.string().min(1).max(200), z.strictObject(careFields)))
    .describe('By the tool’s name as the server lists it; wins over the server’s own')
    .optional(),
  status: z.unknown().describe('As it was read; nothing is done with it').optional(),
})
