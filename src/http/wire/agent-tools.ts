import { z } from 'zod'
import { builtInTools } from '../../domain/agent/events.ts'
import { freeJson } from './fields.ts'

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'A name has 1 to 64 of A-Z a-z 0-9 _ -')
const url = z.string().trim().min(1).max(2_000)
export const headers = freeJson(z.record(z.string(), z.string().max(4_000)))
  .describe('A value may hold {{credential:NAME}}: the calling user’s own')
  .default({})

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
})

/** A built-in tool may be given by its name alone. */
export const tool = z
  .preprocess(
    (sent) => (typeof sent === 'string' ? { type: sent } : sent),
    z.discriminatedUnion('type', [apiCall, z.strictObject({ type: z.enum(builtInTools) })]),
  )
  .describe('An api_call, or a built-in tool, which may be given by its name alone')

export const mcpServer = z.strictObject({ name: toolName, url, headers })
