import { z } from 'zod'
import { transferName } from '../../agents/transfer.ts'
import type { ToolSpec } from '../../ports/model.ts'

/** Tools with rules of their own: their names are everyday words. */
const builtIn = new Set([
  'generate_content',
  'remember',
  'recall',
  'search_knowledge',
  transferName,
])

export const ownTools = (tools: readonly ToolSpec[]): ToolSpec[] =>
  tools.filter(({ name }) => !builtIn.has(name))

const argument = /([A-Za-z_][\w.-]{0,63})=(?:"([^"]*)"|'([^']*)'|(\S+))/g
const closers = '.,;!?)'
const wordCharacter = /[\p{L}\p{N}_]/u

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

/** Whether a text has a name as a whole word; both in lower case. */
const holds = (text: string, name: string): boolean => {
  const at = text.indexOf(name)
  return (
    at !== -1 &&
    !wordCharacter.test(text[at - 1] ?? ' ') &&
    !wordCharacter.test(text[at + name.length] ?? ' ')
  )
}

/**
 * A call of the tool of the agent's own (HTTP or MCP) that the message names, in any case, with
 * spaces for `_` and `-` or without.
 */
export const namedTool = ({ message, tools }: { message: string; tools: readonly ToolSpec[] }) => {
  const own = ownTools(tools)
  if (own.length === 0) return undefined
  const text = message.toLowerCase()
  const spellings = [text, text.replaceAll(' ', '_'), text.replaceAll(' ', '-')]
  const tool = own.find(({ name }) => spellings.some((one) => holds(one, name.toLowerCase())))
  return tool && { name: tool.name, args: argumentsFor(tool, message) }
}
