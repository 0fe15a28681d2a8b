import { z } from 'zod'
import type { ChatMessage, ToolCall } from '../ports/model.ts'
import { AgentFault } from './agent.ts'

/** What agents have said. */
const outputs = z.array(
  z.object({ agent: z.string(), key: z.string().nullable(), text: z.string() }),
)
type Outputs = z.infer<typeof outputs>

/** A call that the client is to answer: its id there, and its place in the model's last answer. */
type OpenCall = { id: string; at: number }

type Below = { agentId: string; below: Suspended } | { agentId: string; outputs: Outputs }

/**
 * Where an agent waits for the client's results, and so do all above it. It is stored between two
 * turns. `said` is what the agent has said in the turns before.
 */
export type Suspended = { agentId: string; said: string } & (
  | {
      kind: 'model'
      /** What follows the prompt, to the model's last answer and the results of its own tools. */
      messages: ChatMessage[]
      open: OpenCall[]
    }
  | { kind: 'transfer'; below: Suspended }
  /** `at` counts the agents that have run, `left` is set once a loop was told to end. */
  | { kind: 'order'; at: number; outputs: Outputs; left: boolean; below: Suspended }
  /** Branches in the configured order: those that wait, and what the others have said. */
  | { kind: 'parallel'; branches: Below[] }
)

const toolCall = z.object({ id: z.string(), name: z.string(), arguments: z.string() })
const chatMessage: z.ZodType<ChatMessage> = z.union([
  z.object({ role: z.enum(['system', 'user']), content: z.string() }),
  z.object({
    role: z.literal('assistant'),
    content: z.string(),
    toolCalls: z.array(toolCall).exactOptional(),
  }),
  z.object({
    role: z.literal('tool'),
    content: z.string(),
    toolCallId: z.string(),
    name: z.string(),
  }),
])
export const chatMessages = z.array(chatMessage)

const agent = { agentId: z.string(), said: z.string() }
const below = z.lazy(() => suspended)

/** As it is stored. */
export const suspended: z.ZodType<Suspended> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('model'),
    ...agent,
    messages: chatMessages,
    open: z.array(z.object({ id: z.string(), at: z.int() })),
  }),
  z.object({ kind: z.literal('transfer'), ...agent, below }),
  z.object({
    kind: z.literal('order'),
    ...agent,
    at: z.int(),
    outputs,
    left: z.boolean(),
    below,
  }),
  z.object({
    kind: z.literal('parallel'),
    ...agent,
    branches: z.array(
      z.union([
        z.object({ agentId: z.string(), below }),
        z.object({ agentId: z.string(), outputs }),
      ]),
    ),
  }),
])

/** The calls of the model's last answer. */
const lastCalls = (messages: readonly ChatMessage[]): readonly ToolCall[] => {
  const request = messages.findLast(({ role }) => role === 'assistant')
  return (request?.role === 'assistant' && request.toolCalls) || []
}

/** The calls that the client is to answer, by the client's ids. */
export const openCalls = (state: Suspended): ToolCall[] => {
  if (state.kind === 'parallel')
    return state.branches.flatMap((branch) => ('below' in branch ? openCalls(branch.below) : []))
  if (state.kind !== 'model') return openCalls(state.below)
  const calls = lastCalls(state.messages)
  return state.open.flatMap(({ id, at }) => {
    const call = calls[at]
    return call ? [{ ...call, id }] : []
  })
}

/** The conversation of an agent with the client's results. */
export const withResults = (
  { messages, open }: Suspended & { kind: 'model' },
  results: ReadonlyMap<string, string>,
): ChatMessage[] => {
  const calls = lastCalls(messages)
  return [
    ...messages,
    ...open.flatMap(({ id, at }): ChatMessage[] => {
      const call = calls[at]
      const content = results.get(id) ?? ''
      return call ? [{ role: 'tool', toolCallId: call.id, name: call.name, content }] : []
    }),
  ]
}

/** Where an agent of this kind has waited. @throws AgentFault when it has changed since */
export const waited = <Kind extends Suspended['kind']>(
  state: Suspended | undefined,
  kind: Kind,
): (Suspended & { kind: Kind }) | undefined => {
  if (state && state.kind !== kind)
    throw new AgentFault('an agent has changed while it waited for the client')
  return state as (Suspended & { kind: Kind }) | undefined
}
