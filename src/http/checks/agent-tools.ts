import type { z } from 'zod'
import { hasStrayCredential } from '../../domain/agent/credential-names.ts'
import { builtInTools } from '../../domain/agent/events.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Call } from '../../ports/call.ts'
import type { JsonSchemas, SchemaFault } from '../../ports/json-schemas.ts'
import type { mcpServer, tool } from '../wire/agent-tools.ts'

type Tool = z.infer<typeof tool>
type ApiCall = Extract<Tool, { type: 'api_call' }>
type Server = z.infer<typeof mcpServer>

/** Names that the runtime uses itself. */
const reserved: ReadonlySet<string> = new Set([...builtInTools, 'transfer_to_agent', 'exit_loop'])

const headerName = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const headerValue = /^[\t\x20-\x7e\xa0-\xff]*$/
/** Set by HTTP itself, or meant for the connection. */
const ownHeaders =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|expect|te|trailer|keep-alive|proxy-.*)$/i

/** Scheme and host without placeholders: arguments must not choose the host. */
const fixedHost = /^https?:\/\/[^/?#\\{}\s]+(?:[/?#]|$)/i
const placeholder = /\{([A-Za-z_][\w-]*)\}/g

/** Why a JSON Schema cannot be used, if it cannot. */
export type FindSchemaFault = (
  schema: Readonly<Record<string, unknown>>,
) => Promise<SchemaFault | undefined>

type Fault = { at: string; message: string; overLimit?: boolean }

const headerFault = (headers: Readonly<Record<string, string>>): Fault | undefined => {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) return { at: 'headers', message: `${name} is no header name` }
    if (ownHeaders.test(name)) return { at: 'headers', message: `${name} cannot be set` }
    const at = `headers.${name}`
    if (!headerValue.test(value)) return { at, message: 'A header value is one line of text' }
    if (hasStrayCredential(value))
      return {
        at,
        message: 'A credential is named {{credential:NAME}}, in capitals, digits and _',
      }
  }
  return undefined
}

/** Why an address may not be asked, if it may not. */
export type FindAddressFault = (url: URL) => string | undefined

/** Checks a tool's address and its schema. */
export type FindFaults = { addressFault: FindAddressFault; schemaFault: FindSchemaFault }

const urlFault = (template: string, addressFault: FindAddressFault): Fault | undefined => {
  const at = 'url'
  const text = template.replace(placeholder, 'x')
  if (!URL.canParse(text)) return { at, message: 'An absolute https URL is expected' }
  if (!fixedHost.test(template))
    return { at, message: 'It begins with https:// and a host without parameters' }
  const { username, password } = new URL(text)
  if (username || password) return { at, message: 'It holds a user name or password' }
  const fault = addressFault(new URL(text))
  return fault === undefined
    ? undefined
    : { at, message: `${fault}; API_CALL_ALLOW_HOSTS names hosts that are free of that` }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const parametersFault = async (
  { url, parameters }: ApiCall,
  schemaFault: FindSchemaFault,
): Promise<Fault | undefined> => {
  const at = 'parameters'
  const { type = 'object', properties = {} } = parameters
  if (type !== 'object') return { at, message: 'Arguments are an object: the type must be object' }
  const fault = await schemaFault(parameters)
  if (fault) {
    const { words, overLimit } = fault
    return { at, message: `This is not a usable JSON Schema: ${words}`, overLimit }
  }
  const undeclared = [...url.matchAll(placeholder)].find(
    ([, name = '']) => !(isObject(properties) && Object.hasOwn(properties, name)),
  )
  return undeclared && { at: 'url', message: `${undeclared[0]} is not among the parameters` }
}

/** The header of a call's key is one that can be set, and is not set already. */
const keyHeaderFault = ({ idempotency_header: name, headers }: ApiCall): Fault | undefined => {
  if (name === undefined) return undefined
  const at = 'idempotency_header'
  const isTaken = Object.keys(headers).some((header) => header.toLowerCase() === name.toLowerCase())
  if (isTaken) return { at, message: `${name} is among the headers` }
  const fault = headerFault({ [name]: '' })
  return fault && { ...fault, at }
}

const apiCallFault = async (
  call: ApiCall,
  { addressFault, schemaFault }: FindFaults,
): Promise<Fault | undefined> => {
  if (reserved.has(call.name))
    return { at: 'name', message: `${call.name} is the name of a built-in tool` }
  return (
    urlFault(call.url, addressFault) ??
    headerFault(call.headers) ??
    keyHeaderFault(call) ??
    parametersFault(call, schemaFault)
  )
}

const nameOf = (tool: Tool): string => (tool.type === 'api_call' ? tool.name : tool.type)

const repeated = (names: readonly string[]): number =>
  names.findIndex((name, n) => names.indexOf(name) < n)

/**
 * Makes sure that tools can be called as they are configured.
 * @throws invalid_tool, too_complex for a schema that is too large or too costly to compile
 */
export const requireTools = async (tools: readonly Tool[], faults: FindFaults): Promise<void> => {
  for (const [n, tool] of tools.entries()) {
    const fault = tool.type === 'api_call' ? await apiCallFault(tool, faults) : undefined
    if (!fault) continue
    const param = `tools.${n}.${fault.at}`
    const code = fault.overLimit ? 'too_complex' : 'invalid_tool'
    throw refusal(code, { field: param, message: `${param}: ${fault.message}` })
  }
  const names = tools.map(nameOf)
  const n = repeated(names)
  if (n !== -1)
    throw refusal('invalid_tool', { field: `tools.${n}`, message: `Two tools are ${names[n]}` })
}

/** @throws invalid_tool */
export const requireServers = (
  servers: readonly Server[],
  addressFault: FindAddressFault,
): void => {
  for (const [n, { url, headers }] of servers.entries()) {
    const fault = urlFault(url, addressFault) ?? headerFault(headers)
    if (!fault) continue
    const param = `mcp_servers.${n}.${fault.at}`
    throw refusal('invalid_tool', { field: param, message: `${param}: ${fault.message}` })
  }
  const names = servers.map(({ name }) => name)
  const n = repeated(names)
  if (n !== -1)
    throw refusal('invalid_tool', {
      field: `mcp_servers.${n}`,
      message: `Two servers are called ${names[n]}`,
    })
}

type Callables = {
  tools?: readonly Tool[] | undefined
  mcp_servers?: readonly Server[] | undefined
}

/** Makes sure that all that an agent calls can be called. @throws invalid_tool, too_complex */
export const requireCallable =
  ({
    schemaFault,
    addressFault,
  }: {
    schemaFault: JsonSchemas['faultOf']
    addressFault: FindAddressFault
  }) =>
  async (
    { tools = [], mcp_servers: servers = [] }: Callables,
    { organizationId }: Call,
  ): Promise<void> => {
    await requireTools(tools, {
      addressFault,
      schemaFault: (schema) => schemaFault(organizationId, schema),
    })
    requireServers(servers, addressFault)
  }
export type RequireCallable = ReturnType<typeof requireCallable>
