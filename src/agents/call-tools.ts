import { createHash } from 'node:crypto'
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  from,
  map,
  merge,
  type Observable,
  of,
  takeWhile,
  throwError,
  timeout,
} from 'rxjs'
import { z } from 'zod'
import type { ToolCall } from '../ports/model.ts'
import type { AgentConfig } from './agent.ts'
import type { AgentEvent } from './agent-event.ts'
import type { RunBudget } from './run-budget.ts'
import {
  errorPrefix,
  type Tool,
  type ToolContext,
  type ToolOutput,
  type ToolResult,
} from './tool.ts'
import type { AgentTurn } from './turn.ts'

const object = z.record(z.string(), z.unknown())

const failed = (content: string): ToolResult => ({ ok: false, content })

/** The arguments that the model wrote; undefined when they are not a JSON object. */
const argumentsOf = (call: ToolCall): Record<string, unknown> | undefined => {
  try {
    return object.parse(JSON.parse(call.arguments.trim() || '{}'))
  } catch {
    return undefined
  }
}

/** The key of a call, the same whenever the call is made (docs/contract/agents.md#the-key-of-a-call). */
const callKey = (runId: string, address: string): string =>
  createHash('sha256')
    .update(JSON.stringify([runId, address]))
    .digest('base64url')

type Uses = {
  agent: AgentConfig
  turn: AgentTurn
  tools: readonly Tool[]
  toolMs: number
  budget: RunBudget
}

const outputsOf = (call: ToolCall, context: ToolContext, tools: readonly Tool[]) => {
  const tool = tools.find(({ spec }) => spec.name === call.name)
  if (!tool) return of<ToolOutput>(failed(`there is no tool ${call.name}`))
  if (tool.policy?.approval)
    return of<ToolOutput>(failed('this call needs approval, and was not made'))
  const args = argumentsOf(call)
  if (!args) return of<ToolOutput>(failed('the arguments are not a JSON object'))
  return from(tool.run(args, context))
}

const runOne = (
  call: ToolCall,
  { agent, turn, tools, toolMs, budget }: Uses,
  done: (result: ToolResult) => void,
): Observable<AgentEvent> =>
  defer(() => {
    if (!budget.takeStep()) {
      done(failed(`${errorPrefix}the run has no steps left`))
      return EMPTY
    }
    const abort = new AbortController()
    const idempotencyKey = callKey(turn.runId, call.id)
    const context = { agent, turn, toolId: call.id, idempotencyKey, signal: abort.signal }
    const names = { tool_name: call.name, tool_id: call.id, agent_name: agent.name }
    let thrown: { error?: unknown } = {}
    const completed = ({ ok, content }: ToolResult): AgentEvent => {
      done({ ok, content: ok ? content : errorPrefix + content })
      return { event: 'tool_completed', ...names, ok, ...thrown }
    }
    const outputs = defer(() => outputsOf(call, context, tools)).pipe(
      timeout({
        first: toolMs,
        with: () => throwError(() => new Error(`no answer within ${toolMs} ms`)),
      }),
      catchError((error: unknown) => {
        thrown = { error }
        return of<ToolOutput>(failed(`${call.name} failed`))
      }),
    )
    return concat(
      of<AgentEvent>({ event: 'tool_started', ...names, arguments: call.arguments }),
      concat(outputs, of<ToolOutput>(failed(`${call.name} gave no result`))).pipe(
        takeWhile((output) => 'payment' in output, true),
        map(
          (output): AgentEvent =>
            'payment' in output
              ? { event: 'payment_required', agent_name: agent.name, ...output.payment }
              : completed(output),
        ),
      ),
    ).pipe(finalize(() => abort.abort()))
  })

/**
 * Runs the calls of one round side by side. `results` is filled in the calls' order; nothing a
 * tool does fails the turn. A call for which the run has no step left is not made.
 */
export const callTools = (
  calls: readonly ToolCall[],
  uses: Uses,
  results: ToolResult[],
): Observable<AgentEvent> =>
  merge(
    ...calls.map((call, n) =>
      runOne(call, uses, (result) => {
        results[n] = result
      }),
    ),
  )
