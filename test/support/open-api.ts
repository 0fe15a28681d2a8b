import { Ajv2020 } from 'ajv/dist/2020.js'
import type { Schema } from './json-arbitrary.ts'
import { type Answer, raw } from './raw.ts'

type Content = Record<string, { schema: Schema; example?: unknown }>

/** How a route is described in the OpenAPI document. */
export type Operation = {
  summary?: string
  tags?: string[]
  security?: unknown[]
  parameters?: { in: string; name: string; required: boolean; schema: Schema; example?: unknown }[]
  requestBody?: { content: Content }
  responses: Record<string, { description: string; content?: Content }>
}

export type Contract = {
  openapi: string
  info: { title: string; version: string }
  security: unknown[]
  components: { securitySchemes: Record<string, unknown> }
  paths: Record<string, Record<string, Operation>>
}

export const contractOf = async (url: string): Promise<Contract> =>
  (await raw(url)('/api/openapi.json')).body

export const operationsOf = ({ paths }: Contract) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

export const formats: Readonly<Record<string, RegExp>> = {
  byte: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/,
  uuid: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
}

const frame = /^(?::.*|(?:event: (?<type>[^\n]+)\n)?(?:id: [^\n]+\n)?data: (?<data>[^\n]+))$/

/** Why a body is no event stream that came to its end. */
const streamFault = (text: string): string | undefined => {
  const blocks = text.split('\n\n')
  if (blocks.pop() !== '') return 'the stream ends inside an item'
  const items = blocks.map((block) => frame.exec(block))
  const data = items.flatMap((item) => item?.groups?.data ?? [])
  if (items.includes(null)) return 'an item of the stream has no data'
  if (data.pop() !== '[DONE]') return 'the stream does not end with [DONE]'
  for (const json of data) JSON.parse(json)
  return undefined
}

const broken = /node_modules|\bat .+:\d+:\d+\)/

/**
 * What is wrong with an answer by the document: its status and code are named for the route, its
 * body has the shape of that status. That the server itself failed is always wrong.
 */
export const conformance = () => {
  const ajv = new Ajv2020({ strict: false, formats })

  const jsonFault = (schema: Schema, { text, body }: Answer): string | undefined => {
    if (body === undefined) return 'the body is not JSON'
    if (ajv.validate(schema, body)) return undefined
    return `${ajv.errorsText(ajv.errors, { dataVar: 'body' })}: ${text.slice(0, 400)}`
  }

  return (operation: Operation, answer: Answer): string | undefined => {
    const { status, headers, text } = answer
    const code = headers['x-error-code']
    const summary = `${status} ${code ?? ''}`.trim()
    const named = operation.responses[status]
    if (!named) return `${summary} is not named`
    if (broken.test(text)) return `${summary} tells where it broke: ${text.slice(0, 400)}`
    if (typeof headers['x-request-id'] !== 'string') return `${summary} has no X-Request-Id`
    if (status >= 400 !== (code !== undefined)) return `${summary} and its code`
    if (code === 'internal_error') return `${summary}: ${text.slice(0, 400)}`
    if (code && !named.description.split(', ').includes(String(code)))
      return `${summary} is not among: ${named.description}`
    const type = String(headers['content-type'] ?? '').split(';')[0] ?? ''
    if (!named.content)
      return text === '' || status === 101
        ? undefined
        : `${summary} has a body: ${text.slice(0, 400)}`
    const described = named.content[type] ?? named.content['*/*']
    if (!described) return `${summary} is ${type || 'of no type'}`
    const fault =
      type === 'text/event-stream'
        ? streamFault(text)
        : type === 'application/json'
          ? jsonFault(described.schema, answer)
          : undefined
    return fault && `${summary}: ${fault}`
  }
}
