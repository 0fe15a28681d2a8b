import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client'
import { jsonFault } from '../support/json-bounds.ts'

/**
 * The protocol's package reports every error in an answer, at some µs each. So unused lists and
 * objects are removed from the answer first.
 */
const mostParts = 200
const mostTools = 1_000
/** Bounds of a tool's schema, and of everything except a result's parts and structured content. */
const schemaBounds = { nodes: 5_000, depth: 32 }
const restBounds = { nodes: 2_000, depth: 32 }
const structureBounds = { depth: 32 }

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with its texts, numbers and booleans, and nothing inside it. */
const flat = (value: unknown): unknown =>
  isFields(value)
    ? Object.fromEntries(Object.entries(value).filter(([, inner]) => typeof inner !== 'object'))
    : value

const partOf = (part: unknown): unknown =>
  isFields(part) && isFields(part.resource)
    ? { ...(flat(part) as Fields), resource: flat(part.resource) }
    : flat(part)

const isText = (value: unknown): boolean => typeof value === 'string'

/** Whether a schema has what the protocol asks of it; the first error ends the check. */
const isSchema = (schema: unknown): boolean => {
  if (!isFields(schema) || schema.type !== 'object') return false
  const { properties = {}, required = [] } = schema
  if (!isFields(properties) || !Object.values(properties).every(isFields)) return false
  return Array.isArray(required) && required.every(isText)
}

/** Undefined if its schema cannot be used. */
const toolOf = (tool: unknown): unknown[] => {
  if (!isFields(tool)) return []
  const { inputSchema, annotations } = tool
  if (jsonFault(inputSchema, schemaBounds) || !isSchema(inputSchema)) return []
  const said = annotations === undefined ? {} : { annotations: flat(annotations) }
  return [{ ...(flat(tool) as Fields), inputSchema, ...said }]
}

const partsOf = (content: readonly unknown[]): unknown[] => {
  const parts = content.slice(0, mostParts).map(partOf)
  if (content.length > mostParts)
    parts.push({ type: 'text', text: `[cut: the first ${mostParts} of ${content.length} parts]` })
  return parts
}

/** Why a message of a server is not looked at, in words. */
const faultOf = (message: Fields): string | undefined => {
  const { result } = message
  if (!isFields(result)) return jsonFault(message, restBounds)
  const { content, tools, structuredContent, ...rest } = result
  if (Array.isArray(tools) && tools.length > mostTools) return `more than ${mostTools} tools`
  return jsonFault(rest, restBounds) ?? jsonFault(structuredContent, structureBounds)
}

/**
 * A message of an MCP server, narrowed for the protocol's package. Beyond its bounds, an answer
 * becomes an error and any other message undefined.
 */
export const narrowed = (message: JSONRPCMessage): JSONRPCMessage | undefined => {
  const fields: Fields = { ...message }
  const fault = faultOf(fields)
  if (fault !== undefined) {
    const { id } = fields
    if (id === undefined || 'method' in fields) return undefined
    const error = { code: -32603, message: `the answer has ${fault}` }
    return { jsonrpc: '2.0', id: id as RequestId, error }
  }
  const { result } = fields
  if (!isFields(result)) return message
  const { content, tools } = result
  const own = {
    ...(Array.isArray(content) ? { content: partsOf(content) } : {}),
    ...(Array.isArray(tools) ? { tools: tools.flatMap(toolOf) } : {}),
  }
  return { ...message, result: { ...result, ...own } } as JSONRPCMessage
}
