import { from, NEVER, type Observable, switchMap } from 'rxjs'
import type { EndRunCommand } from '../../commands/end-run.ts'
import type { PauseRunCommand } from '../../commands/pause-run.ts'
import type { RecordStepsCommand } from '../../commands/record-steps.ts'
import type { SendMessageCommand, Sent } from '../../commands/send-message.ts'
import type { AgentConfig } from '../agents/agent.ts'
import type { AgentEvent, TurnDone } from '../agents/agent-event.ts'
import { noJournal } from '../agents/journal.ts'
import { longestAnswer, settingsFor } from '../agents/model-settings.ts'
import { partTokens } from '../agents/parts.ts'
import { piecesIn } from '../agents/tokens.ts'
import type { AgentTurn } from '../agents/turn.ts'
import { refusal } from '../domain/refusal.ts'
import type { Sealed } from '../domain/sealed.ts'
import type { SessionEvent } from '../domain/session/events.ts'
import type { RunOwner } from '../domain/session/running.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { AppendTooLarge } from '../ports/event-store.ts'
import { KeyDestroyed } from '../ports/keys.ts'
import type { ChatMessage, Models, Price } from '../ports/model.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import { type Keyed, sessionKey, type Vault } from '../security/vault.ts'
import { ownTurn } from '../support/own-turn.ts'
import { answerEvents, callIds, sealedResults } from './client-calls.ts'
import { drive } from './drive.ts'
import { failureCode } from './failure-code.ts'
import { type Ended, givenOf, isLarge, withState } from './given.ts'
import { keptOf } from './kept-request.ts'
import { hasParts, readied } from './message-parts.ts'
import { pauseOf, pendingOf } from './pause.ts'
import type { RecordedRun } from './recorded-run.ts'
import { stepsOf } from './recorder.ts'
import { RunLost } from './run-lost.ts'
import { stepWriter } from './step-writer.ts'
import type { Outcome, TurnRequest } from './turn.ts'
import type { TurnLog } from './turn-log.ts'
import type { WatchRun } from './watch-run.ts'

/** Completion tokens that credits are reserved for when no limit is set. */
const expectedTokens = 1_024
/** Characters of a request's messages beyond which its turn of the event loop is its own. */
const largeText = 262_144

export type RunTurnUses = {
  sendMessage: SendMessageCommand
  recordSteps: RecordStepsCommand
  endRun: EndRunCommand
  pauseRun: PauseRunCommand
  runAgent(turn: AgentTurn): Observable<AgentEvent>
  models: Models
  vault: Vault
  blobs: SealedBlobs
  clock: Clock
  /** This process's life: another process ends the runs of a life that is over. */
  node: string
  waitForPosition: WaitForPosition
  log: { error(fields: object, text: string): void }
  /** Told what happens in every run. */
  watchRun?: WatchRun | undefined
}

type Begun = {
  sent: Pick<Sent, 'session'>
  key: Keyed
  log: TurnLog
  cancelled: boolean
  /** What is recorded of the run, where this is not its first attempt. */
  recorded?: RecordedRun
  attempt: number
  /** In milliseconds since 1970. */
  startedAt: number
}

type Storing = {
  runId: string
  key: Keyed
  owner: RunOwner
  recorded: RecordedRun | undefined
  startedAt: number
}

type Cost = { promptTokens: number; completionTokens: number; charge: number; agentId: string }

/** The agent that spoke last, found by its name; the first of several with one name. */
const agentOf = ({ agent, agents }: TurnRequest, name: string): string => {
  if (name === agent.name) return agent.agentId
  for (const [agentId, one] of agents) if (one.name === name) return agentId
  return agent.agentId
}

const costOf = (request: TurnRequest, { usage, charges, agent }: TurnDone): Cost => ({
  ...usage,
  charge: charges.reduce((sum, { charge }) => sum + charge, 0),
  agentId: agentOf(request, agent),
})

type End = SessionEvent<'RunCompleted' | 'RunFailed' | 'RunCancelled' | 'RunTimedOut'>

/** A failed run costs nothing; what a cancelled run has answered so far is kept and charged. */
const endOf = (request: TurnRequest, runId: string, driven: Ended, durationMs: number): End => {
  const { ended, done } = driven
  const cost = costOf(request, done)
  if (ended === 'timed_out') return { type: 'RunTimedOut', data: { runId, ...cost, charge: 0 } }
  if (ended === 'failed') {
    const { refusal: refused, cause } = driven
    const said = { code: refused.code, ...(cause === undefined ? {} : { cause }) }
    return { type: 'RunFailed', data: { runId, ...said, ...cost, charge: 0 } }
  }
  if (ended === 'cancelled') return { type: 'RunCancelled', data: { runId, ...cost } }
  const { finish_reason: finishReason, tool_calls, charges } = done
  const toolCalls = tool_calls?.map(({ id, name }) => ({ id, name }))
  const model = charges[0]?.model ?? 'none'
  return {
    type: 'RunCompleted',
    data: { runId, finishReason, ...(toolCalls ? { toolCalls } : {}), model, durationMs, ...cost },
  }
}

const partsIn = (message: ChatMessage) => ('parts' in message ? (message.parts ?? []) : [])

/** Pieces of the client's tools and of their results. */
const clientPieces = ({ clientTools, results, after }: TurnRequest): number => {
  const texts = [...(results ?? []), ...(after ?? [])].map(({ content }) => content)
  if (clientTools) texts.push(JSON.stringify(clientTools.specs))
  return texts.reduce((sum, text) => sum + piecesIn(text), 0)
}

/** One turn, from its message to its stored end. */
export const runTurn = (uses: RunTurnUses) => {
  const { sendMessage, recordSteps, endRun, runAgent, models, vault, clock, node } = uses

  /** @throws model_misconfigured when the provider of the agent's model is not configured */
  const priceOf = ({ agentId, model }: AgentConfig, { requestId }: Call): Price => {
    try {
      return models.resolve(model).price
    } catch (err) {
      uses.log.error({ err, reqId: requestId, agent_id: agentId }, 'a run cannot begin')
      throw refusal(failureCode(err))
    }
  }

  const reserveFor = (request: TurnRequest): number => {
    const { call, agent, message, before, system, settings, format, files } = request
    const price = priceOf(agent, call)
    const earlier = [...system, ...before].reduce((sum, one) => sum + piecesIn(one.content), 0)
    const seen = [...(files?.parts ?? []), ...before.flatMap(partsIn)]
    const inFiles = seen.reduce((sum, part) => sum + partTokens(part), 0)
    const completion = longestAnswer(settingsFor(agent, settings)) ?? expectedTokens
    const asked = format ? piecesIn(JSON.stringify(format)) : 0
    const prompt = earlier + piecesIn(message) + inFiles + clientPieces(request) + asked
    return Math.ceil(prompt * price.prompt + completion * price.completion)
  }

  /** Large texts are counted, sealed and sent in turns of the event loop of their own, not many at once. */
  const pauseFor = (request: TurnRequest): Promise<void> | undefined => {
    const { message, before, system, results } = request
    let { length } = message
    for (const { content } of system) length += content.length
    for (const { content } of before) length += content.length
    for (const { content } of results ?? []) length += content.length
    return length > largeText ? ownTurn() : undefined
  }

  const now = (call: Call, causationId: string): Call => ({
    ...call,
    at: clock.now().toISOString(),
    causationId,
  })

  const unlessErased = (error: unknown): never => {
    throw error instanceof KeyDestroyed ? refusal('session_not_found') : error
  }

  /**
   * What seals the session's texts; without a promise when it is in memory.
   * @throws session_not_found once the session and its key are erased
   */
  const sessionKeyOf = (request: TurnRequest): Keyed | Promise<Keyed> => {
    const { call, sessionId, isNewSession } = request
    const keyed = vault.keyed(sessionKey(call.organizationId, sessionId), isNewSession)
    return keyed instanceof Promise ? keyed.catch(unlessErased) : keyed
  }

  const sealedAnswers = async (request: TurnRequest) => {
    const { results = [], messageId } = request
    const idOf = (n: number) => (n === 0 ? messageId : clock.id())
    return sealedResults(await sessionKeyOf(request), results, idOf)
  }

  const sealedMessage = (request: TurnRequest): Sealed | Promise<Sealed> => {
    const key = sessionKeyOf(request)
    const { message } = request
    return key instanceof Promise ? key.then(({ seal }) => seal(message)) : key.seal(message)
  }

  /** What a resume needs; without a promise when the key is in memory. */
  const keptFor = (request: TurnRequest) => () => {
    const key = sessionKeyOf(request)
    return key instanceof Promise
      ? key.then((found) => keptOf(request, found))
      : keptOf(request, key)
  }

  /** Reserves, and stores the message and the beginning of its run. @throws Refusal */
  const start = async (request: TurnRequest, runId: string): Promise<Sent> => {
    const { call, viewer, sessionId, hidden, agent, messageId, payerId } = request
    const { fingerprint, follows, isNewSession = false } = request
    const pause = pauseFor(request)
    if (pause) await pause
    const reserve = reserveFor(request)
    const sent = await sendMessage(
      {
        sessionId,
        isNew: isNewSession,
        viewer,
        keyId: call.keyId,
        hidden,
        messageId,
        runId,
        content: () => (request.results ? sealedAnswers(request) : sealedMessage(request)),
        agentId: agent.agentId,
        agent: agent.name,
        node,
        payerId,
        reserve,
        kept: keptFor(request),
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(follows === undefined ? {} : { follows }),
      },
      now(call, call.causationId),
    )
    if (pause || (request.results && isLarge(sent))) await ownTurn()
    return sent
  }

  const store = (request: TurnRequest, driven: Ended, { runId, key, owner, ...begun }: Storing) => {
    const { call, sessionId, payerId } = request
    const { done, ended, state } = driven
    const durationMs = clock.now().getTime() - begun.startedAt
    const end = endOf(request, runId, driven, durationMs)
    const answered = ended === 'done' || (ended === 'cancelled' && done.text !== '')
    const isNew = answered && !begun.recorded?.answered
    const answer = isNew ? answerEvents({ runId, messageId: clock.id(), done, state }, key) : []
    const steps = [...driven.steps, ...answer]
    return endRun({ sessionId, payerId, steps, end, owner }, now(call, runId))
  }

  /** Stores the end of a turn. One whose steps or answer no store takes has failed instead. */
  const storeEnd = async (request: TurnRequest, driven: Ended, storing: Storing) => {
    try {
      return { ...(await store(request, driven, storing)), driven }
    } catch (err) {
      if (!(err instanceof AppendTooLarge)) throw err
      const { requestId: reqId } = request.call
      uses.log.error({ err, reqId, run_id: storing.runId }, 'a run cannot be stored')
      const { done } = driven
      const failed = { ended: 'failed', done, refusal: refusal('orchestrator_error') } as const
      return { ...(await store(request, { ...failed, steps: [] }, storing)), driven: failed }
    }
  }

  /** Stores that a turn waits for decisions. One that cannot be stored, or has ended meanwhile, does not. */
  const storePause = async (
    request: TurnRequest,
    driven: Ended & { ended: 'paused' },
    { runId, key, owner }: Storing,
  ) => {
    const { call, sessionId } = request
    const { asked, inDoubt, done, steps } = driven
    const cost = costOf(request, done)
    try {
      const pause = pauseOf({ runId, asked, inDoubt, done, cost }, key)
      const stored = await uses.pauseRun({ sessionId, owner, steps, ...pause }, now(call, runId))
      const { paused, goesOn, position } = stored
      if (!paused) return { lost: true } as const
      const pending = asked.map(pendingOf)
      const outcome: Outcome = { status: 'paused', goesOn, done: { ...done, pending } }
      return { outcome, position, lost: false } as const
    } catch (err) {
      if (!(err instanceof AppendTooLarge)) throw err
      return { lost: false } as const
    }
  }

  /**
   * Runs a turn that has begun; its outcome resolves when its end is stored and the views show it.
   * A turn that was cancelled while it waited is only recorded. With `recorded` it goes on from there.
   */
  const finish = (request: TurnRequest, runId: string, begun: Begun) => {
    const { sent, key, log, cancelled, recorded, attempt } = begun
    const { call, sessionId, agent, target, clientTools, settings, format } = request
    const owner = { node, attempt }
    const files = uses.blobs.under(sessionKey(call.organizationId, sessionId))
    const given = givenOf(request, sent, key, files)
    const fault = (err: unknown) =>
      uses.log.error({ err, reqId: call.requestId, run_id: runId }, 'a run failed')
    const writer = stepWriter({
      stepOf: stepsOf(runId, key.seal),
      async record(steps) {
        const asked = { sessionId, runId, steps, owner }
        const { stored } = await recordSteps(asked, now(call, runId))
        if (!stored) throw new RunLost(runId)
      },
      onFault: (error) => driven.unwritten(error),
      answers: recorded?.used.modelCalls ?? 0,
    })
    const turn: AgentTurn = {
      call,
      runId,
      sessionId,
      agent,
      agents: request.agents,
      ...given.turn,
      ...(clientTools ? { clientTools: { ...clientTools, callId: callIds(runId) } } : {}),
      ...(target ? { target } : {}),
      ...(settings ? { settings } : {}),
      ...(format ? { format } : {}),
      journal: { ...(recorded ?? noJournal), saved: writer.saved },
    }
    // Whatever becomes of the turn, the files of its message are stored before it ends.
    const ready = hasParts(turn) ? readied(turn) : undefined
    const kept = ready?.catch(() => undefined)
    const running = ready ? from(ready).pipe(switchMap(runAgent)) : runAgent(turn)
    const watch = uses.watchRun?.({ runId, sessionId, call, message: given.turn.message })
    const driven = drive(cancelled ? NEVER : running, {
      log,
      watch,
      writer,
      agent: agent.name,
      onFault: fault,
    })
    const outcome = driven.ended.then(async (result): Promise<Outcome> => {
      await kept
      const ended = result.done.suspended ? await withState(result, given, key) : result
      watch?.ended(ended)
      if (ended.ended === 'lost') return { status: 'failed', refusal: ended.refusal }
      if (ended.ended === 'handed_over') {
        const handed = { type: 'RunHandedOver', data: { runId, node } } as const
        const asked = { sessionId, runId, steps: [...ended.steps, handed], owner }
        await recordSteps(asked, now(call, runId))
        return { status: 'failed', refusal: ended.refusal }
      }
      const storing = { runId, key, owner, recorded, startedAt: begun.startedAt }
      if (ended.ended === 'paused') {
        const stored = await storePause(request, ended, storing)
        if (stored.outcome) {
          await uses.waitForPosition(stored.position)
          for (const one of ended.asked) log.push(one)
          return stored.outcome
        }
        if (stored.lost) return { status: 'failed', refusal: refusal('service_unavailable') }
      }
      const stored = await storeEnd(request, ended, storing)
      const { driven } = stored
      if (stored.lost) return { status: 'failed', refusal: refusal('service_unavailable') }
      if (!stored.ended) return { status: 'failed', refusal: refusal('llm_service_timeout') }
      await uses.waitForPosition(stored.position)
      if (driven.ended === 'done') return { status: 'completed', done: driven.done }
      if (driven.ended === 'cancelled') return { status: 'cancelled', done: driven.done }
      return { status: 'failed', refusal: driven.refusal ?? refusal('orchestrator_error') }
    })
    if (cancelled) driven.cancel()
    return { outcome, cancel: driven.cancel, handOver: driven.handOver }
  }

  return { start, sessionKeyOf, finish }
}
