import { z } from 'zod'
import type { ToolCall, ToolSpec } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'

export const transferName = 'transfer_to_agent'

/** An agent that a conversation can be handed to. */
export type Choice = { name: string; description: string }

const spaces = /\s+/g
const oneLine = (text: string) => text.replace(spaces, ' ').trim()

const parameters = z.object({
  properties: z.object({
    agent_name: z.object({ enum: z.array(z.string()), description: z.string() }),
  }),
})

/**
 * The names are the parameter's `enum`; its description has a line `name: description` for each.
 */
export const transferSpec = (agents: readonly AgentConfig[]): ToolSpec => ({
  name: transferName,
  description: 'Hands the conversation to the agent that suits it best; that agent answers.',
  parameters: {
    type: 'object',
    properties: {
      agent_name: {
        type: 'string',
        enum: agents.map(({ name }) => name),
        description: agents
          .map(({ name, description }) => `${name}: ${oneLine(description)}`)
          .join('\n'),
      },
    },
    required: ['agent_name'],
  },
})

/** Reads back what `transferSpec` wrote; undefined for any other spec. */
export const choicesIn = (spec: ToolSpec): Choice[] => {
  const parsed = parameters.safeParse(spec.parameters)
  if (!parsed.success) return []
  const { enum: names, description } = parsed.data.properties.agent_name
  const lines = description.split('\n')
  return names.map((name, n) => ({ name, description: (lines[n] ?? '').slice(name.length + 1) }))
}

const wanted = z.object({ agent_name: z.string() })

/** The agent that a call of `transfer_to_agent` names, if it is one of those offered. */
export const chosen = (call: ToolCall, agents: readonly AgentConfig[]): AgentConfig | undefined => {
  try {
    const name = wanted.parse(JSON.parse(call.arguments)).agent_name.trim().toLowerCase()
    return agents.find((agent) => agent.name.toLowerCase() === name)
  } catch {
    return undefined
  }
}
