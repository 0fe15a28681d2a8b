import type { ChatMessage } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentOutput } from './agent-event.ts'
import type { AgentStep } from './agent-kind.ts'
import { trimmed } from './context.ts'
import { paragraphs } from './paragraphs.ts'

const placeholder = /\{([A-Za-z_]\w*)\}/g

/** The instruction with every `{key}` that has an output filled in; others stay as they are. */
const filled = (instruction: string, outputs: readonly AgentOutput[]): string =>
  instruction.replace(
    placeholder,
    (braced, key) => outputs.findLast((output) => output.key === key)?.text ?? braced,
  )

/** The last words of every agent before this one, but for those the instruction quotes by key. */
const heard = (instruction: string, outputs: readonly AgentOutput[]): string => {
  const last = new Map<string, string>()
  for (const { agent, key, text } of outputs)
    if (key === null || !instruction.includes(`{${key}}`)) last.set(agent, text)
  if (last.size === 0) return ''
  const said = [...last].map(([agent, text]) => `${agent}:\n${text}`)
  return ['Other agents have said in this turn:', ...said].join('\n\n')
}

/** Instructions as they stand, where no agent has spoken: counted once for many turns. */
const plain = new WeakMap<AgentConfig, ChatMessage>()

const plainInstruction = (agent: AgentConfig): ChatMessage => {
  const known = plain.get(agent)
  if (known) return known
  const message: ChatMessage = { role: 'system', content: agent.instruction }
  plain.set(agent, message)
  return message
}

const systemOf = (agent: AgentConfig, outputs: readonly AgentOutput[]): ChatMessage => {
  if (outputs.length === 0) return plainInstruction(agent)
  const { instruction } = agent
  const content = paragraphs(filled(instruction, outputs), heard(instruction, outputs))
  return { role: 'system', content }
}

/** What a model is shown first: instruction, what the agents before said, history, the message. */
export const promptOf = (
  agent: AgentConfig,
  { turn, outputs }: AgentStep,
  budget: number,
): ChatMessage[] => {
  const system = systemOf(agent, outputs)
  const messages = system.content === '' ? [] : [system]
  const { message: content, parts, history, after } = turn
  if (history.length > 0) messages.push(...trimmed(history, budget))
  messages.push(parts ? { role: 'user', content, parts } : { role: 'user', content })
  if (after) messages.push(...after)
  return messages
}
