import { from, NEVER, type Observable, switchMap } from 'rxjs'
import type { AgentEvent } from '../../agents/agent-event.ts'
import { noJournal } from '../../agents/journal.ts'
import { type TokenMeter, tokenMeter } from '../../agents/token-meter.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import type { RunOwner } from '../../domain/session/running.ts'
import type { Session } from '../../domain/session/session.ts'
import { following } from '../../ports/call.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { type Keyed, sessionKey } from '../../security/vault.ts'
import { stepsOf } from '../record/recorder.ts'
import { sealWaiting } from '../record/run-result.ts'
import { RunLost, type StepWriter, stepWriter } from '../record/step-writer.ts'
import { type StoreOutcomeUses, storeOutcome } from '../record/store-outcome.ts'
import type { RecordedRun } from '../resume/recorded-run.ts'
import { limitsOf, type Outcome, type TurnRequest } from '../turn.ts'
import { type AgentInput, agentInput } from './agent-input.ts'
import { callIds } from './client-calls.ts'
import { drive } from './drive.ts'
import { hasParts, readied } from './message-parts.ts'
import type { Control } from './track-turn.ts'
import type { WatchRun } from './watch-run.ts'

export type ExecuteRunUses = StoreOutcomeUses & {
  runAgent(turn: AgentTurn): Observable<AgentEvent>
  blobs: SealedBlobs
  /** Watches every run. */
  watchRun?: WatchRun | undefined
  /** A turn that begins while the process stops is left to another one. */
  isStopping(): boolean
  /** This process's life: another process ends the runs of a life that is over. */
  node: string
}

/** A run whose message is stored, or that is resumed. */
export type Execution = {
  request: TurnRequest
  runId: string
  /** As the message was stored, or the run taken over. */
  session: Session
  key: Keyed
  control: Pick<Control, 'items' | 'cancelled' | 'driving'>
  /** The steps of earlier attempts; absent: this is the first. */
  recorded?: RecordedRun
  attempt: number
  /** How many milliseconds the run has taken, in all attempts since it last waited. */
  elapsed(): number
}

/** The turn as agents get it, with what is recorded of its run. */
const agentTurn = (
  { request, runId, recorded }: Execution,
  input: AgentInput,
  writer: Pick<StepWriter, 'saved'>,
  meter: TokenMeter,
): AgentTurn => {
  const { call, sessionId, agent, agents, target, clientTools, settings, format } = request
  const limits = limitsOf(request)
  const journal = { ...(recorded ?? noJournal), saved: writer.saved }
  const turn: AgentTurn = {
    call,
    runId,
    sessionId,
    agent,
    agents,
    ...input.turn,
    limits,
    journal,
    meter,
  }
  if (clientTools) turn.clientTools = { ...clientTools, callId: callIds(runId) }
  if (request.keywordTools) turn.keywordTools = request.keywordTools
  if (target) turn.target = target
  if (settings) turn.settings = settings
  if (format) turn.format = format
  // Limits are watched piece by piece.
  if (request.whole && Object.keys(limits).length === 0) turn.whole = true
  return turn
}

/** Executes a run: from its stored message to its stored end. */
export const executeRun = (uses: ExecuteRunUses) => {
  const { recordSteps, runAgent, blobs, node } = uses
  const store = storeOutcome(uses)

  const writerOf = ({ request, runId, key, recorded }: Execution, owner: RunOwner): StepWriter =>
    stepWriter({
      stepOf: stepsOf(runId, key.seal),
      async record(steps) {
        const { call, sessionId } = request
        const recording = { sessionId, runId, steps, owner }
        const { stored } = await recordSteps(recording, following(call, runId))
        if (!stored) throw new RunLost(runId)
      },
      answerCount: recorded?.used.modelCalls ?? 0,
    })

  const onFault = ({ request, runId }: Execution, err: unknown): void =>
    uses.log.error({ err, reqId: request.call.requestId, run_id: runId }, 'a run failed')

  const watched = ({ request, runId }: Execution, { turn }: AgentInput) => {
    const { call, sessionId } = request
    return uses.watchRun?.({ runId, sessionId, call, message: turn.message })
  }

  /**
   * Resolves when the end is stored and the views show it. A turn that was cancelled while it
   * waited is only recorded.
   */
  return async (execution: Execution): Promise<Outcome> => {
    const { request, runId, session, key, control, recorded, attempt, elapsed } = execution
    const { items, cancelled } = control
    const owner = { node, attempt }
    const files = () => blobs.under(sessionKey(request.call.organizationId, request.sessionId))
    const input = agentInput(request, session, key, files)
    const meter = tokenMeter(recorded?.used.answers)
    const writer = writerOf(execution, owner)
    const turn = agentTurn(execution, input, writer, meter)
    const ready = hasParts(turn) ? readied(turn) : undefined
    const events = ready ? from(ready).pipe(switchMap(runAgent)) : runAgent(turn)
    const watch = watched(execution, input)
    const driving = drive(cancelled ? NEVER : events, {
      items,
      watch,
      writer,
      meter,
      agent: request.agent.name,
      onFault: (error) => onFault(execution, error),
      elapsed: attempt === 1 ? elapsed : undefined,
    })
    control.driving = driving
    if (cancelled) driving.cancel()
    if (uses.isStopping()) driving.handOver()
    const result = await driving.result()
    // However the turn ends, the files of its message are stored before.
    await ready?.catch(() => undefined)
    const final = await sealWaiting(result, input, key)
    watch?.ended(final)
    const isAnswered = recorded?.isAnswered ?? false
    return store({ request, runId, key, owner, isAnswered, elapsed, items }, final)
  }
}

export type ExecuteRun = ReturnType<typeof executeRun>
