import type { ChatMessage } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentOutput } from './agent-event.ts'
import type { AgentStep } from './agent-kind.ts'
import { trimmed } from './context.ts'

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

/** What a model is shown first: instruction, what the agents before said, history, the message. */
export const promptOf = (
  { instruction }: AgentConfig,
  { turn, outputs }: AgentStep,
  budget: number,
): ChatMessage[] => {
  const system = [filled(instruction, outputs), heard(instruction, outputs)]
    .filter((part) => part !== '')
    .join('\n\n')
  const messages: ChatMessage[] = system === '' ? [] : [{ role: 'system', content: system }]
  const { message: content, parts } = turn
  messages.push(...trimmed(turn.history, budget), {
    role: 'user',
    content,
    ...(parts ? { parts } : {}),
  })
  if (turn.after) messages.push(...turn.after)
  return messages
}
