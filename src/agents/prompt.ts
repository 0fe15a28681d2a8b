import { type ChatMessage, ContextTooLong } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentOutput } from './agent-event.ts'
import type { AgentStep } from './agent-kind.ts'
import { trimmed } from './context.ts'
import { paragraphs } from './paragraphs.ts'

const placeholder = /\{([A-Za-z_]\w*)\}/g

/** The longest system message, in characters: as much as the text of one message. */
const longestSystem = 1_048_576

const requireLength = (length: number): void => {
  if (length > longestSystem)
    throw new ContextTooLong(
      `the instruction and what other agents said exceed ${longestSystem} characters`,
    )
}

/** The last output under each key. */
const textsByKey = (outputs: readonly AgentOutput[]): Map<string, string> => {
  const texts = new Map<string, string>()
  for (const { key, text } of outputs) if (key !== null) texts.set(key, text)
  return texts
}

/**
 * The instruction with every `{key}` that has an output filled in; others stay as they are. Its
 * length is counted before it is built. @throws ContextTooLong
 */
const filled = (instruction: string, outputs: readonly AgentOutput[]): string => {
  const texts = textsByKey(outputs)
  let { length } = instruction
  for (const [braced, key = ''] of instruction.matchAll(placeholder)) {
    length += (texts.get(key) ?? braced).length - braced.length
    requireLength(length)
  }
  return instruction.replace(placeholder, (braced, key) => texts.get(key) ?? braced)
}

/**
 * The last words of every agent before this one, but for those the instruction quotes by key.
 * @throws ContextTooLong
 */
const heard = (instruction: string, outputs: readonly AgentOutput[]): string => {
  const last = new Map<string, string>()
  for (const { agent, key, text } of outputs)
    if (key === null || !instruction.includes(`{${key}}`)) last.set(agent, text)
  if (last.size === 0) return ''
  let { length } = instruction
  for (const text of last.values()) {
    length += text.length
    requireLength(length)
  }
  const answers = [...last].map(([agent, text]) => `${agent}:\n${text}`)
  return ['Other agents have said in this turn:', ...answers].join('\n\n')
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
