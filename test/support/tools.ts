import { from, lastValueFrom, toArray } from 'rxjs'
import type { Tool, ToolOutput, ToolResult } from '../../src/agents/tool.ts'
import type { Call } from '../../src/ports/call.ts'
import { agentNamed, turnOf } from './agents.ts'
import { call } from './recorded.ts'

type Using = { call?: Call; signal?: AbortSignal; idempotencyKey?: string }

/** Everything that a tool gives. */
export const outputsOf = (
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { call: by = call, signal = new AbortController().signal, idempotencyKey = 'key-1' }: Using = {},
): Promise<ToolOutput[]> => {
  const agent = agentNamed('Solo', { datastoreIds: ['store-1'] })
  const turn = turnOf(agent, 'Hi', { call: by })
  const context = { agent, turn, toolId: 'c0', idempotencyKey, signal }
  return lastValueFrom(from(tool.run(args, context)).pipe(toArray()))
}

/** What the model is told. */
export const resultOf = async (...used: Parameters<typeof outputsOf>): Promise<ToolResult> => {
  const last = (await outputsOf(...used)).at(-1)
  if (!last || 'payment' in last) throw new Error('the tool gave no result')
  return last
}
