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
import type { AgentEvent, ApprovalRequired, ToolCompleted, ToolEffect } from './agent-event.ts'
import type { Journal, RecordedApproval, RecordedTool } from './journal.ts'
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

/** The result of a call whose process died before it had one. */
const unknownOutcome =
  'it is not known whether this was done: the server stopped before it had the answer. Find out before you call it again.'

/** The result of a call that somebody says was made, where no result was given. */
const doneOutcome = 'This was done. Its answer was lost: the server stopped before it had it.'

const tooComplex = `the arguments have more than ${callArguments.depth} levels or ${callArguments.nodes} values`

type ParsedCall =
  | { tool: Tool; args: Record<string, unknown>; misfit?: undefined }
  | { tool?: undefined; args?: undefined; misfit: string }

/** The tool of a call and its arguments, or why there is none. */
const parsedCall = (call: ToolCall, tools: readonly Tool[]): ParsedCall => {
  const tool = tools.find(({ spec }) => spec.name === call.name)
  if (!tool) return { misfit: `there is no tool ${call.name}` }
  if (isTooComplex(call.arguments, callArguments)) return { misfit: tooComplex }
  const args = argumentsOf(call)
  return args ? { tool, args } : { misfit: 'the arguments are not a JSON object' }
}

type Names = Pick<ApprovalRequired, 'at' | 'tool_name' | 'tool_id' | 'agent_name'>

/** Why a call is not made though it was decided on; undefined for an approved call. */
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

/** Requests an approval; `earlier` is the request of an earlier attempt. */
const approvalRequest = (
  names: Names,
  call: ToolCall,
  tool: Tool | undefined,
  earlier: RecordedApproval | undefined,
  clock: Clock,
): ApprovalRequired => {
  const { approver = 'user', ttlSeconds = 0 }: Partial<ToolApproval> = tool?.policy?.approval ?? {}
  const expiry = new Date(clock.now().getTime() + ttlSeconds * 1000).toISOString()
  const request = { event: 'approval_required', ...names, arguments: call.arguments } as const
  return earlier
    ? {
        ...request,
        approval_id: earlier.approvalId,
        definition: earlier.definition,
        approver: earlier.approver,
        expires_at: earlier.expiresAt,
        replayed: true,
      }
    : {
        ...request,
        approval_id: clock.id(),
        definition: tool?.definition?.() ?? '',
        approver,
        expires_at: expiry,
      }
}

/** One call, with what earlier attempts of the run recorded of it. */
type OneCall = {
  call: ToolCall
  names: Names
  parsed: ParsedCall
  /** The call was begun before, unless somebody says that it was not made. */
  recorded: RecordedTool | undefined
  /** The decision on it, where it has no result yet. */
  approval: RecordedApproval | undefined
  done(result: ToolResult): void
  onWait(): void
}

type Completion = {
  outcome?: ToolCompleted['outcome']
  error?: { error?: unknown }
  replayed?: boolean | undefined
}

/** The first and last event of a call. */
const callEvents = ({ call, names, parsed: { tool }, recorded, done }: OneCall, clock: Clock) => {
  const elapsed = stopwatch(clock)
  const { effect }: { effect: ToolEffect } = { effect: 'read', ...tool?.policy, ...recorded }
  const started: AgentEvent = {
    event: 'tool_started',
    ...names,
    effect,
    arguments: call.arguments,
    ...(recorded ? { replayed: true } : {}),
  }
  const completed = (
    { ok, content, reached }: ToolResult,
    { outcome = ok ? 'ok' : 'failed', error = {}, replayed }: Completion = {},
  ): ToolCompleted => {
    done({ ok, content })
    return {
      event: 'tool_completed',
      ...names,
      ok,
      outcome,
      content,
      duration_ms: elapsed(),
      ...(reached ? { reached } : {}),
      ...error,
      ...(replayed || recorded?.result ? { replayed: true } : {}),
    }
  }
  return { started, completed }
}

const asError = (result: ToolResult): ToolResult =>
  result.ok ? result : { ...result, content: errorPrefix + result.content }

/** The events of a call that waits for an approval; undefined where it has one, or needs none. */
const awaitApproval = (
  { call, names, parsed: { tool }, recorded, approval, onWait }: OneCall,
  clock: Clock,
): Observable<AgentEvent> | undefined => {
  const decided = recorded ? undefined : approval
  const isOpen = tool?.policy?.approval && !decided && !recorded
  if (decided?.status !== 'pending' && !isOpen) return undefined
  onWait()
  return of(approvalRequest(names, call, tool, decided, clock))
}

/** The events of a call that was denied, or that has its result already; else undefined. */
const replayResult = (
  { parsed: { tool }, recorded, approval }: OneCall,
  { started, completed }: ReturnType<typeof callEvents>,
): Observable<AgentEvent> | undefined => {
  const denied = recorded || !approval ? undefined : denial(approval, tool)
  if (denied !== undefined)
    return of(completed(asError(failed(denied)), { replayed: approval?.told }))
  if (recorded?.result && !tool?.local) return of(started, completed(recorded.result))
  return undefined
}

/**
 * The events of a call that an earlier attempt began and that is not made again; else undefined.
 */
const replayBegun = (
  { call, names, parsed: { tool }, recorded, approval, onWait }: OneCall,
  { started, completed }: ReturnType<typeof callEvents>,
): Observable<AgentEvent> | undefined => {
  if (!recorded) return undefined
  if (recorded.told?.outcome === 'done') {
    const { content = doneOutcome } = recorded.told
    return of(started, completed({ ok: true, content }))
  }
  const keyed = tool?.policy?.keyed ?? false
  const repeatable = recorded.effect === 'read' || keyed || tool?.local === true
  if (repeatable && !(approval && denial(approval, tool))) return undefined
  if (tool?.policy?.onUnknown === 'ask') {
    onWait()
    const inDoubt = { event: 'tool_in_doubt', ...names, arguments: call.arguments } as const
    return of(started, inDoubt)
  }
  return of(started, completed(asError(failed(unknownOutcome)), { outcome: 'unknown' }))
}

/** Makes a call. It is on disk before; a call that cannot be stored is no failure of the tool. */
const makeCall = (
  { call, names, parsed }: OneCall,
  { started, completed }: ReturnType<typeof callEvents>,
  { agent, turn, toolMs, journal }: Uses,
): Observable<AgentEvent> => {
  const { tool } = parsed
  const abort = new AbortController()
  const idempotencyKey = callKey(turn.runId, names.at)
  const context = { agent, turn, toolId: call.id, idempotencyKey, signal: abort.signal }
  let error: { error?: unknown } = {}
  const stored = defer(() => {
    const saving = tool && !tool.local ? journal.saved() : undefined
    return saving ? from(saving).pipe(ignoreElements()) : EMPTY
  })
  const outputs = defer(() =>
    parsed.tool ? from(parsed.tool.run(parsed.args, context)) : of(failed(parsed.misfit)),
  ).pipe(
    timeout({
      first: toolMs,
      with: () => throwError(() => new Error(`no answer within ${toolMs} ms`)),
    }),
    catchError((thrown: unknown) => {
      error = { error: thrown }
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
            : completed(asError(output), { error }),
      ),
    ),
  ).pipe(finalize(() => abort.abort()))
}

const runOne = (
  call: ToolCall,
  uses: Uses,
  done: (result: ToolResult) => void,
  onWait: () => void,
): Observable<AgentEvent> =>
  defer(() => {
    const { agent, tools, budget, journal, clock } = uses
    const at = uses.placeOf(call)
    const toolEntry = journal.toolAt(at)
    if (!toolEntry && !budget.takeStep()) {
      done(failed(`${errorPrefix}the run has no steps left`))
      return EMPTY
    }
    // A call that was not made begins anew; an approval of it is looked at again.
    const recorded =
      toolEntry?.told?.outcome === 'not_done' && !toolEntry.result ? undefined : toolEntry
    const names = { at, tool_name: call.name, tool_id: call.id, agent_name: agent.name }
    const parsed = parsedCall(call, tools)
    const approval = recorded?.result ? undefined : journal.approvalAt(at, call.arguments)
    const state: OneCall = { call, names, parsed, recorded, approval, done, onWait }
    const waiting = awaitApproval(state, clock)
    if (waiting) return waiting
    const events = callEvents(state, clock)
    return (
      replayResult(state, events) ?? replayBegun(state, events) ?? makeCall(state, events, uses)
    )
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
    const onWait = () => {
      waiting = true
    }
    const runs = calls.map((call, n) =>
      runOne(
        call,
        uses,
        (result) => {
          results[n] = result
        },
        onWait,
      ),
    )
    const paused = defer(() => (waiting ? throwError(() => new Paused()) : EMPTY))
    return concat(merge(...runs), paused)
  })
