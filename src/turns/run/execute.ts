import { from, NEVER, type Observable, switchMap } from 'rxjs'
import type { Sent } from '../../../commands/send-message.ts'
import type { AgentEvent } from '../../agents/agent-event.ts'
import { noJournal } from '../../agents/journal.ts'
import { tokenMeter } from '../../agents/token-meter.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import { following } from '../../ports/call.ts'
import { type Keyed, sessionKey, type Vault } from '../../security/vault.ts'
import { sealedRequest } from '../begin/sealed-request.ts'
import { type StartRunUses, startRun } from '../begin/start-run.ts'
import { stepsOf } from '../record/recorder.ts'
import { RunLost, stepWriter } from '../record/step-writer.ts'
import { type StoreOutcomeUses, storeOutcome } from '../record/store-outcome.ts'
import type { RecordedRun } from '../resume/recorded-run.ts'
import type { Outcome, TurnRequest } from '../turn.ts'
import { limitsOf } from '../turn.ts'
import { givenOf, withState } from './agent-input.ts'
import { callIds } from './client-calls.ts'
import { drive } from './drive.ts'
import { hasParts, readied } from './message-parts.ts'
import type { Control } from './track-turn.ts'
import type { WatchRun } from './watch-run.ts'

export type RunTurnUses = StartRunUses &
  StoreOutcomeUses & {
    runAgent(turn: AgentTurn): Observable<AgentEvent>
    vault: Vault
    /** Told what happens in every run. */
    watchRun?: WatchRun | undefined
    /** A turn that begins while the process stops is left to another at once. */
    isStopping(): boolean
  }

type Begun = {
  sent: Pick<Sent, 'session'>
  key: Keyed
  control: Pick<Control, 'log' | 'cancelled' | 'driving'>
  /** What is recorded of the run, where this is not its first attempt. */
  recorded?: RecordedRun
  attempt: number
  /** How many milliseconds the run has taken, in all attempts since it last waited. */
  elapsed(): number
}

/** One turn, from its message to its stored end. */
export const runTurn = (uses: RunTurnUses) => {
  const { recordSteps, runAgent, vault, clock, node } = uses
  const sealed = sealedRequest({ vault, clock })
  const store = storeOutcome(uses)

  /**
   * Runs a turn that has begun; its outcome resolves when its end is stored and the views show it.
   * A turn that was cancelled while it waited is only recorded. With `recorded` it goes on from
   * there.
   */
  const finish = async (request: TurnRequest, runId: string, begun: Begun): Promise<Outcome> => {
    const { sent, key, control, recorded, attempt, elapsed } = begun
    const { log, cancelled } = control
    const { call, sessionId, agent, target, clientTools, settings, format } = request
    const owner = { node, attempt }
    const files = () => uses.blobs.under(sessionKey(call.organizationId, sessionId))
    const given = givenOf(request, sent, key, files)
    const meter = tokenMeter(recorded?.used.answers)
    const limits = limitsOf(request)
    const fault = (err: unknown) =>
      uses.log.error({ err, reqId: call.requestId, run_id: runId }, 'a run failed')
    const writer = stepWriter({
      stepOf: stepsOf(runId, key.seal),
      async record(steps) {
        const asked = { sessionId, runId, steps, owner }
        const { stored } = await recordSteps(asked, following(call, runId))
        if (!stored) throw new RunLost(runId)
      },
      onFault: (error) => driving.unwritten(error),
      answers: recorded?.used.modelCalls ?? 0,
    })
    const turn: AgentTurn = {
      call,
      runId,
      sessionId,
      agent,
      agents: request.agents,
      ...given.turn,
      limits,
      journal: { ...(recorded ?? noJournal), saved: writer.saved },
      meter,
    }
    if (clientTools) turn.clientTools = { ...clientTools, callId: callIds(runId) }
    if (request.keywordTools) turn.keywordTools = request.keywordTools
    if (target) turn.target = target
    if (settings) turn.settings = settings
    if (format) turn.format = format
    // Limits are watched piece by piece.
    if (request.whole && Object.keys(limits).length === 0) turn.whole = true
    // Whatever becomes of the turn, the files of its message are stored before it ends.
    const ready = hasParts(turn) ? readied(turn) : undefined
    const kept = ready?.catch(() => undefined)
    const running = ready ? from(ready).pipe(switchMap(runAgent)) : runAgent(turn)
    const watch = uses.watchRun?.({ runId, sessionId, call, message: given.turn.message })
    const driving = drive(cancelled ? NEVER : running, {
      log,
      watch,
      writer,
      meter,
      agent: agent.name,
      onFault: fault,
    })
    control.driving = driving
    if (cancelled) driving.cancel()
    if (uses.isStopping()) driving.handOver()
    const ending = driving.ended()
    const result = ending instanceof Promise ? await ending : ending
    if (kept) await kept
    const ended = result.done.suspended ? await withState(result, given, key) : result
    watch?.ended(ended)
    const isAnswered = recorded?.answered ?? false
    return await store({ request, runId, key, owner, isAnswered, elapsed, log }, ended)
  }

  return { start: startRun({ ...uses, sealed }), keyOf: sealed.keyOf, finish }
}
