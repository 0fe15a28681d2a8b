import { type Fields, isObject } from '../support/fields.ts'
import { jsonFault } from '../support/json-bounds.ts'
import { hasProperHeaders } from './mcp-headers.ts'
import { partText } from './mcp-text.ts'

/**
 * Servers deviate from the protocol in small ways, and the protocol's package refuses a whole
 * answer for any of them, at some µs for each error. So answers get their regular form first.
 */
const mostParts = 200
const mostTools = 1_000
/** Bounds of a tool's schema, and of everything except a result's parts and structured content. */
const schemaBounds = { nodes: 5_000, depth: 32 }
const restBounds = { nodes: 2_000, depth: 32 }
const structureBounds = { depth: 32 }

/** The code of an error that stands for an answer that cannot be read. */
export const unreadable = -39_001

/** In a tool's `_meta`: why the tool is left out. */
export const leftOutKey = 'reprise/left-out'

/** A request whose answer is read. */
export type McpRequest = { id: string | number; method: string }

const isText = (value: unknown): value is string => typeof value === 'string'

const isAbsent = (value: unknown): boolean => value === undefined || value === null

/** The entries of an object that are not null. */
const present = (value: Fields): Fields =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null))

/** Null counts as absent at every level. The value is within `restBounds`. */
const withoutNulls = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isObject(value)) return value
  const entries = Object.entries(present(value))
  return Object.fromEntries(entries.map(([name, inner]) => [name, withoutNulls(inner)]))
}

/** A schema that the protocol allows; undefined if it has another form. */
const schemaOf = (schema: unknown): Fields | undefined => {
  if (!isObject(schema) || jsonFault(schema, schemaBounds)) return undefined
  const own: Fields = { type: 'object', ...present(schema) }
  const { type, properties = {}, required = [] } = own
  if (type !== 'object') return undefined
  if (!isObject(properties) || !Object.values(properties).every(isObject)) return undefined
  return Array.isArray(required) && required.every(isText) ? own : undefined
}

const emptySchema = { type: 'object' }

const leftOut = (name: string, reason: string): Fields => ({
  name,
  inputSchema: emptySchema,
  _meta: { [leftOutKey]: reason },
})

/** The parts of a tool that are used. A tool that cannot be used says why in its `_meta`. */
const toolOf = (tool: unknown, n: number): Fields => {
  const { name, description, inputSchema, annotations }: Fields = isObject(tool) ? tool : {}
  if (!isText(name) || name === '') return leftOut(`(number ${n + 1})`, 'it has no name')
  const schema = schemaOf(inputSchema)
  if (!schema) return leftOut(name, 'it has no input schema that can be used')
  if (!hasProperHeaders(schema)) return leftOut(name, 'its headers do not follow the protocol')
  const { readOnlyHint, idempotentHint }: Fields = isObject(annotations) ? annotations : {}
  return {
    name,
    ...(isText(description) ? { description } : {}),
    inputSchema: schema,
    annotations: { readOnlyHint: readOnlyHint === true, idempotentHint: idempotentHint === true },
  }
}

const listResult = ({ tools, nextCursor, ...rest }: Fields): Fields => ({
  ...(withoutNulls(rest) as Fields),
  ...(Array.isArray(tools) ? { tools: tools.map(toolOf) } : {}),
  ...(isText(nextCursor) && nextCursor !== '' ? { nextCursor } : {}),
})

/** The text of the parts of a result; undefined where one is neither text nor an object. */
const textOf = (content: unknown): string | undefined => {
  const parts = (Array.isArray(content) ? content : [content]).filter((part) => !isAbsent(part))
  const texts = parts.slice(0, mostParts).map(partText)
  if (!texts.every(isText)) return undefined
  if (parts.length > mostParts) texts.push(`[cut: the first ${mostParts} of ${parts.length} parts]`)
  return texts.join('\n')
}

const callResult = (result: unknown): Fields | undefined => {
  if (!isObject(result)) return callResult({ content: result })
  const { content, structuredContent, isError, resultType, _meta, ...own } = result
  if (isText(resultType) && resultType !== 'complete') return withoutNulls(result) as Fields
  const other = isAbsent(content) && Object.keys(own).length > 0 ? own : undefined
  const structure = structuredContent ?? other
  const hasParts = Array.isArray(content) ? content.length > 0 : !isAbsent(content)
  const text = !hasParts && structure !== undefined ? JSON.stringify(structure) : textOf(content)
  if (text === undefined) return undefined
  return {
    content: [{ type: 'text', text }],
    ...(isError === true ? { isError } : {}),
    ...(isText(resultType) ? { resultType } : {}),
  }
}

/** Only tools are used of a server. One that does not say what it has is asked for them. */
const initializeResult = ({ protocolVersion, capabilities, serverInfo }: Fields): Fields => {
  const { tools }: Fields = isObject(capabilities) ? capabilities : { tools: {} }
  const { listChanged }: Fields = isObject(tools) ? tools : {}
  const { name, version }: Fields = isObject(serverInfo) ? serverInfo : {}
  return {
    protocolVersion,
    capabilities: tools === undefined ? {} : { tools: { listChanged: listChanged === true } },
    serverInfo: { name: isText(name) ? name : '', version: isText(version) ? version : '' },
  }
}

/** An answer in the place of one that cannot be read. */
export const faultAnswer = ({ id }: McpRequest, fault: string): Fields => ({
  jsonrpc: '2.0',
  id,
  error: { code: unreadable, message: fault },
})

const noMessage = 'its answer is no JSON-RPC message'
const notRegular = 'its answer does not follow the protocol'

/** Which bound a result exceeds, in words. */
const excess = (result: unknown): string | undefined => {
  if (!isObject(result)) return jsonFault(result, structureBounds)
  const { content, tools, structuredContent, ...rest } = result
  if (Array.isArray(tools) && tools.length > mostTools) return `more than ${mostTools} tools`
  return jsonFault(rest, restBounds) ?? jsonFault(structuredContent, structureBounds)
}

const errorOf = (error: unknown): Fields => {
  const { code, message }: Fields = isObject(error) ? error : { message: error }
  return {
    code: Number.isSafeInteger(code) ? code : -32_603,
    message: isText(message) ? message : 'it refused, and did not say why',
    ...(isObject(error) && !jsonFault(error.data, restBounds) ? { data: error.data } : {}),
  }
}

/** In a stream that resumes the answer to an earlier request, the result shows its method. */
const resultOf = (result: unknown, method: string | undefined): Fields | undefined => {
  if (method === 'tools/call') return callResult(result)
  if (!isObject(result)) return {}
  if (method === 'initialize') return initializeResult(result)
  if (method === 'tools/list' || Array.isArray(result.tools)) return listResult(result)
  return Array.isArray(result.content) ? callResult(result) : (withoutNulls(result) as Fields)
}

/** A response has no id but that of the request that it came for. */
const responseOf = (message: Fields, request: McpRequest | undefined): Fields | undefined => {
  const { result, error } = message
  const id = request?.id ?? message.id
  if (isAbsent(id)) return undefined
  if (!isAbsent(error)) return { jsonrpc: '2.0', id, error: errorOf(error) }
  if (result === undefined) return request && faultAnswer(request, noMessage)
  const fault = excess(result)
  const own = fault === undefined ? resultOf(result, request?.method) : undefined
  if (own) return { jsonrpc: '2.0', id, result: own }
  return (
    request && faultAnswer(request, fault === undefined ? notRegular : `the answer has ${fault}`)
  )
}

/** Undefined for what is not passed on. */
const messageOf = (message: unknown, request: McpRequest | undefined): Fields | undefined => {
  if (!isObject(message)) return request && faultAnswer(request, noMessage)
  if (!isText(message.method)) return responseOf(message, request)
  if (jsonFault(message, restBounds)) return undefined
  return { ...(withoutNulls(message) as Fields), jsonrpc: '2.0' }
}

/**
 * What a server sent, as the protocol's package can read it, message by message; messages that
 * exceed the bounds are dropped. An unreadable response becomes an error for its request.
 */
export const regular = (value: unknown, request?: McpRequest): Fields[] =>
  (Array.isArray(value) ? value : [value])
    .map((item) => messageOf(item, request))
    .filter((message) => message !== undefined)

/** Whether one of the messages is a response. */
export const responds = (messages: readonly Fields[]): boolean =>
  messages.some((message) => 'result' in message || 'error' in message)
