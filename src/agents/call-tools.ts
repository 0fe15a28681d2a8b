import { createHash } from 'node:crypto'
import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  takeWhile,
  throwError,
  timeout,
} from 'rxjs'
import { z } from 'zod'
import type { Clock } from '../ports/clock.ts'
import type { ToolCall } from '../ports/model.ts'
import { callArguments } from '../support/json-bounds.ts'
import { isTooComplex } from '../support/json-text.ts'
import { stopwatch } from '../support/stopwatch.ts'
import { type AgentConfig, Paused } from './agent.ts'
import type { AgentEvent, ApprovalRequired, ToolCompleted } from './agent-event.ts'
import type { Journal, RecordedApproval } from './journal.ts'
import type { RunBudget } from './run-budget.ts'
import {
  errorPrefix,
  type Tool,
  type ToolApproval,
  type ToolOutput,
  type ToolResult,
} from './tool.ts'
import type { AgentTurn } from './turn.ts'

const object = z.record(z.string(), z.unknown())

const failed = (content: string): ToolResult => ({ ok: false, content })

/** The arguments that the model wrote; undefined when they are not a JSON object. */
const argumentsOf = (call: ToolCall): Record<string, unknown> | undefined => {
  try {
    return object.parse(JSON.parse(call.arguments.trim() || '{}') ?? {})
  } catch {
    return undefined
  }
}

/**
 * The key of a call, the same whenever the call is made
 * (docs/contract/agents.md#the-key-of-a-call).
 */
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
  journal: Journal
  clock: Clock
  /** The place of a call in the run. */
  placeOf(call: ToolCall): string
}

/** What the model is told where the process died between a call and its result. */
const unknownOutcome =
  'it is not known whether this was done: the server stopped before it had the answer. Find out before you call it again.'

/** What the model is told of a call that somebody says was made, without its result. */
const doneOutcome = 'This was done. Its answer was lost: the server stopped before it had it.'

const tooComplex = `the arguments have more than ${callArguments.depth} levels or ${callArguments.nodes} values`

/** The tool that a call means and its arguments, or why there is none. */
const meant = (call: ToolCall, tools: readonly Tool[]) => {
  const tool = tools.find(({ spec }) => spec.name === call.name)
  if (!tool) return { misfit: `there is no tool ${call.name}` }
  if (isTooComplex(call.arguments, callArguments)) return { misfit: tooComplex }
  const args = argumentsOf(call)
  return args ? { tool, args } : { misfit: 'the arguments are not a JSON object' }
}

type Names = Pick<ApprovalRequired, 'at' | 'tool_name' | 'tool_id' | 'agent_name'>

/** What the model is told of a call that nobody agreed to; undefined for one that is agreed to. */
const denial = (
  { status, reason, definition }: RecordedApproval,
  tool: Tool | undefined,
): string | undefined => {
  if (status === 'changed') return 'the arguments are not those that were approved'
  if (status === 'expired') return 'nobody approved this call in time, so it was not made'
  if (status !== 'approved')
    return `this call was denied, and not made${reason ? `. The reason given: ${reason}` : ''}`
  return tool && tool.definition?.() !== definition
    ? 'the tool has changed since this call was approved, so it was not made'
    : undefined
}

/** Asks for an agreement to a call; `earlier` is what was asked for in an earlier attempt. */
const askFor = (
  names: Names,
  call: ToolCall,
  tool: Tool | undefined,
  earlier: RecordedApproval | undefined,
  clock: Clock,
): ApprovalRequired => {
  const { approver = 'user', ttlSeconds = 0 }: Partial<ToolApproval> = tool?.policy?.approval ?? {}
  const late = new Date(clock.now().getTime() + ttlSeconds * 1000).toISOString()
  const asked = { event: 'approval_required', ...names, arguments: call.arguments } as const
  return earlier
    ? {
        ...asked,
        approval_id: earlier.approvalId,
        definition: earlier.definition,
        approver: earlier.approver,
        expires_at: earlier.expiresAt,
        replayed: true,
      }
    : {
        ...asked,
        approval_id: clock.id(),
        definition: tool?.definition?.() ?? '',
        approver,
        expires_at: late,
      }
}

const runOne = (
  call: ToolCall,
  { agent, turn, tools, toolMs, budget, journal, clock, placeOf }: Uses,
  done: (result: ToolResult) => void,
  waits: () => void,
): Observable<AgentEvent> =>
  defer(() => {
    const at = placeOf(call)
    const begun = journal.toolAt(at)
    if (!begun && !budget.takeStep()) {
      done(failed(`${errorPrefix}the run has no steps left`))
      return EMPTY
    }
    // A call that was not made is made as if it had not begun; an approval of it is looked at again.
    const recorded = begun?.told?.outcome === 'not_done' && !begun.result ? undefined : begun
    const abort = new AbortController()
    const idempotencyKey = callKey(turn.runId, at)
    const context = { agent, turn, toolId: call.id, idempotencyKey, signal: abort.signal }
    const names = { at, tool_name: call.name, tool_id: call.id, agent_name: agent.name }
    const { tool, args, misfit } = meant(call, tools)
    const approved = recorded?.result ? undefined : journal.approvalAt(at, call.arguments)
    const decided = recorded ? undefined : approved
    if (decided?.status === 'pending' || (tool?.policy?.approval && !decided && !recorded)) {
      waits()
      return of(askFor(names, call, tool, decided, clock))
    }
    const { effect, keyed = false } = { effect: 'read', ...tool?.policy, ...recorded } as const
    const elapsed = stopwatch(clock)
    const started: AgentEvent = {
      event: 'tool_started',
      ...names,
      effect,
      arguments: call.arguments,
      ...(recorded ? { replayed: true } : {}),
    }
    const replayed = recorded?.result ? { replayed: true as const } : {}
    let thrown: { error?: unknown } = {}
    const told = (
      { ok, content, reached }: ToolResult,
      outcome: ToolCompleted['outcome'] = ok ? 'ok' : 'failed',
    ): ToolCompleted => {
      done({ ok, content })
      const more = { ...(reached ? { reached } : {}), ...thrown, ...replayed }
      return {
        event: 'tool_completed',
        ...names,
        ok,
        outcome,
        content,
        duration_ms: elapsed(),
        ...more,
      }
    }
    const completed = (result: ToolResult): ToolCompleted =>
      told(result.ok ? result : { ...result, content: errorPrefix + result.content })

    const denied = decided && denial(decided, tool)
    if (denied !== undefined) {
      const replay = decided?.told ? { replayed: true as const } : {}
      return of({ ...completed(failed(denied)), ...replay })
    }
    if (recorded?.result && !tool?.local) return of(started, told(recorded.result))
    const repeatable = effect === 'read' || keyed || tool?.local === true
    const again = repeatable && !(approved && denial(approved, tool))
    if (recorded?.told?.outcome === 'done') {
      const { content = doneOutcome } = recorded.told
      return of(started, told({ ok: true, content }))
    }
    if (recorded && !again && tool?.policy?.onUnknown === 'ask') {
      waits()
      const inDoubt = { event: 'tool_in_doubt', ...names, arguments: call.arguments } as const
      return of(started, inDoubt)
    }
    if (recorded && !again) {
      const unknown = { ok: false, content: errorPrefix + unknownOutcome }
      return of(started, told(unknown, 'unknown'))
    }
    /**
     * The call is on disk before it is made; a call that cannot be stored is no failure of the
     * tool.
     */
    const stored = defer(() => {
      const saving = tool && !tool.local ? journal.saved() : undefined
      return saving ? from(saving).pipe(ignoreElements()) : EMPTY
    })
    const called = () => (tool ? from(tool.run(args, context)) : of(failed(misfit)))
    const outputs = defer(called).pipe(
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
      of(started),
      stored,
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
 * Runs the calls of one round side by side. `results` is filled in the calls' order; nothing a tool
 * does fails the turn. A call for which the run has no step left is not made. When all others have
 * ended, fails with Paused where one waits for somebody.
 */
export const callTools = (
  calls: readonly ToolCall[],
  uses: Uses,
  results: ToolResult[],
): Observable<AgentEvent> =>
  defer(() => {
    let waiting = false
    const waits = () => {
      waiting = true
    }
    const made = calls.map((call, n) =>
      runOne(
        call,
        uses,
        (result) => {
          results[n] = result
        },
        waits,
      ),
    )
    const paused = defer(() => (waiting ? throwError(() => new Paused()) : EMPTY))
    return concat(merge(...made), paused)
  })
