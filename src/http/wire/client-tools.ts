import { z } from 'zod'
import { keywordTools } from '../../agents/keyword-tools.ts'
import type { ClientTools } from '../../agents/turn.ts'
import { refusal } from '../../domain/refusal.ts'
import { list, within } from '../../support/bounded-schema.ts'
import type { JsonBounds } from '../../support/json-bounds.ts'
import { freeJson, orAbsent } from './fields.ts'

/** What a client offers in one request (docs/contract/client-tools.md#client-tools). */
export const mostTools = 128
const inAll: JsonBounds = { bytes: 262_144, depth: 40, nodes: 20_000 }

export const functionName = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/, 'A name has 1 to 64 of A-Z a-z 0-9 _ -')

/** A function as a client describes it. */
export const functionFields = {
  name: functionName,
  description: orAbsent(z.string().max(16_384)),
  parameters: orAbsent(freeJson(z.record(z.string(), z.unknown()))).describe(
    'JSON Schema of the arguments',
  ),
  strict: orAbsent(z.boolean()),
}

/** The tools of one request, within the bounds of all together. */
export const toolsOf = <Tool extends z.ZodType>(tool: Tool) =>
  within(inAll, list(tool).max(mostTools, `At most ${mostTools} tools are offered`))

const tool = z.object({
  type: z.literal('function', 'Only tools of type function can be offered'),
  function: z.object(functionFields),
})

/** Modes of a choice among some of the tools. */
export const allowedMode = z.enum(['none', 'auto', 'required'])

const functionChoice = z.object({
  type: z.literal('function'),
  function: z.object({ name: functionName }),
})

/** Fields of a chat request. */
export const clientToolFields = {
  tools: orAbsent(toolsOf(tool)),
  tool_choice: orAbsent(
    z.union(
      [
        allowedMode,
        functionChoice,
        z.object({
          type: z.literal('allowed_tools'),
          allowed_tools: z.object({
            mode: allowedMode,
            tools: list(functionChoice).max(mostTools),
          }),
        }),
      ],
      'none, auto, required, {type: "function", function: {name}} or {type: "allowed_tools", allowed_tools: {mode, tools}} is expected',
    ),
  ),
  parallel_tool_calls: orAbsent(z.boolean()),
}

const fields = z.object(clientToolFields)

/** What a request offers, as chat completions name it. */
export type ClientToolsSent = z.infer<typeof fields>

/** A call in answers to clients, and in requests that repeat it. */
export const toolCall = z.object({
  id: z.string(),
  type: z.literal('function'),
  function: z.object({ name: z.string(), arguments: z.string() }),
})

/** What a request offers to the agents. */
export type OfferedTools = Omit<ClientTools, 'callId'>

type Choice = NonNullable<ClientToolsSent['tool_choice']>

/**
 * A choice as names: of the tool that is demanded, or of those that alone are offered. To a model
 * that is not offered the others, a call of them is a call of an unknown tool.
 */
const choiceOf = (sent: Choice) => {
  if (typeof sent === 'string') return { mode: sent, named: [] }
  if (sent.type === 'function') {
    const { name } = sent.function
    return { mode: 'auto' as const, named: [name], demanded: name }
  }
  const { mode, tools } = sent.allowed_tools
  const named = tools.map((tool) => tool.function.name)
  return { mode, named, allowed: new Set(named) }
}

/**
 * The tools that words of the answer may call: those that the request offers under their names, and
 * allows. Undefined: all, for a request that offers none.
 */
export const offeredKeywords = ({
  tools,
  tool_choice,
}: Partial<ClientToolsSent>): readonly string[] | undefined => {
  const { mode, allowed } = choiceOf(tool_choice ?? 'auto')
  if (mode === 'none') return []
  const offered = tools && new Set(tools.map((tool) => tool.function.name))
  return offered && keywordTools.filter((name) => (allowed ?? offered).has(name))
}

/**
 * @throws invalid_tool for a name that comes twice, invalid_input for a choice that is not offered
 */
export const offeredTools = (body: Partial<ClientToolsSent>): OfferedTools | undefined => {
  if (body.tools === undefined && body.tool_choice === undefined) return undefined
  const { tools = [], tool_choice = 'auto', parallel_tool_calls: parallel } = body
  const names = new Set<string>()
  for (const { function: definition } of tools) {
    if (names.has(definition.name))
      throw refusal('invalid_tool', {
        field: 'tools',
        message: `There are two tools of the name ${definition.name}`,
      })
    names.add(definition.name)
  }
  const { mode, named, demanded, allowed } = choiceOf(tool_choice)
  const offered = allowed ? tools.filter((tool) => allowed.has(tool.function.name)) : tools
  if (named.some((name) => !names.has(name)) || (mode === 'required' && offered.length === 0))
    throw refusal('invalid_input', {
      field: 'tool_choice',
      message: 'tool_choice demands a tool that is not in tools',
    })
  if (offered.length === 0 || mode === 'none') return undefined
  return {
    specs: offered.map(({ function: { name, description = '', parameters, strict } }) => ({
      name,
      description,
      parameters: parameters ?? { type: 'object', properties: {} },
      ...(strict === undefined ? {} : { strict }),
      client: true,
    })),
    ...(mode === 'required' ? { choice: mode } : {}),
    ...(demanded === undefined ? {} : { choice: { name: demanded } }),
    ...(parallel === undefined ? {} : { parallel }),
  }
}
