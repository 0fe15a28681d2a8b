import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import { transferName } from '../../agents/transfer.ts'
import type { ToolChoice, ToolSpec } from '../../ports/model.ts'
import { smallestValue } from './smallest-value.ts'

/** Tools with rules of their own: their names are everyday words. */
const builtIn = new Set([
  'generate_content',
  'remember',
  'recall',
  'search_knowledge',
  transferName,
])

export const ownTools = (tools: readonly ToolSpec[]): ToolSpec[] =>
  tools.filter(({ name, client }) => client || !builtIn.has(name))

const argument = /([A-Za-z_][\w.-]{0,63})=(?:"([^"]*)"|'([^']*)'|(\S+))/g
const closers = '.,;!?)'
const special = /[.*+?^${}()|[\]\\]/g

const properties = z.object({
  properties: z.record(z.string(), z.object({ type: z.string().optional().catch(undefined) })),
})

/** A bare value without the punctuation of the sentence it stands in. */
const bare = (text: string): string => {
  let end = text.length
  while (end > 0 && closers.includes(text.charAt(end - 1))) end--
  return text.slice(0, end)
}

const typed = (text: string, type: string | undefined): unknown => {
  if (type === 'boolean' && /^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  const number = Number(text)
  if ((type === 'number' || type === 'integer') && text !== '' && Number.isFinite(number))
    return number
  return text
}

/** Every `key=value` of a message, as the types that the tool declares. */
const argumentsFor = (spec: ToolSpec, message: string): Record<string, unknown> => {
  const declared = properties.safeParse(spec.parameters)
  const types = declared.success ? declared.data.properties : {}
  return Object.fromEntries(
    [...message.matchAll(argument)].map(([, key = '', double, single, plain = '']) => [
      key,
      typed(double ?? single ?? bare(plain), types[key]?.type),
    ]),
  )
}

const patterns = new LRUCache<string, RegExp>({ max: 1000 })

/** Finds a name as a whole word, in any case, with `_`, `-` or a space between its parts. */
const patternOf = (name: string): RegExp => {
  const known = patterns.get(name)
  if (known) return known
  const parts = name.split(/[_-]/).map((part) => part.replace(special, '\\$&'))
  const source = `(?<![\\p{L}\\p{N}_])${parts.join('[\\s_-]')}(?![\\p{L}\\p{N}_])`
  const pattern = new RegExp(source, 'iu')
  patterns.set(name, pattern)
  return pattern
}

/** A client has nobody to ask for what is missing: required arguments are filled. */
const filled = (tool: ToolSpec, message: string): Record<string, unknown> => {
  const args = argumentsFor(tool, message)
  return tool.client ? { ...args, ...object(smallestValue(tool.parameters, args)) } : args
}

const object = (value: unknown): object =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}

type ToolQuestion = {
  message: string
  tools: readonly ToolSpec[]
  toolChoice?: ToolChoice | undefined
}

const verbPrefix = /^(?:get|fetch|find|list|read|show)[_-](?=.{3})/i

/** What a client's tool is for: `get_weather` is for the weather. */
const subjectOf = ({ name, client }: ToolSpec): RegExp | undefined =>
  client && verbPrefix.test(name) ? patternOf(name.replace(verbPrefix, '')) : undefined

const naming = ({ message, tools }: ToolQuestion): ToolSpec | undefined => {
  const own = ownTools(tools)
  return (
    own.find(({ name }) => patternOf(name).test(message)) ??
    own.find((tool) => subjectOf(tool)?.test(message))
  )
}

/** A call of the agent's own tool (HTTP or MCP), or of the client's, that the message names. */
export const namedTool = (question: ToolQuestion) => {
  const tool = naming(question)
  return tool && { name: tool.name, args: filled(tool, question.message) }
}

/** A call of the tool that the client demands, by its name or else the name in the message. */
export const demandedTool = ({ message, tools, toolChoice }: ToolQuestion) => {
  if (toolChoice === undefined) return undefined
  const clients = tools.filter(({ client }) => client)
  const tool =
    toolChoice === 'required'
      ? (naming({ message, tools: clients }) ?? clients[0])
      : clients.find(({ name }) => name === toolChoice.name)
  return tool && { name: tool.name, args: filled(tool, message) }
}
