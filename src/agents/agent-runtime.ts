import { Observable } from 'rxjs'
import { type AgentLimits, type ReachedLimit, runTimeOutMs } from '../domain/run-limits.ts'
import type { Clock } from '../ports/clock.ts'
import { ModelFault, ModelOutputInvalid, type ToolCall } from '../ports/model.ts'
import { stopwatch } from '../support/stopwatch.ts'
import { LimitReached, TurnTimeout } from './agent.ts'
import type { AgentAnswer, AgentEvent, TokenEvent, TurnDone } from './agent-event.ts'
import type { RunLimits, RuntimePorts } from './agent-kind.ts'
import { attribution, mingles } from './attributed.ts'
import { callIds } from './call-ids.ts'
import { noJournal, type RecordedUse } from './journal.ts'
import { type KeywordTable, keywordCalls, keywordPhrases } from './keyword-tools.ts'
import { agentRun } from './run-agent.ts'
import { type OwnLimits, runBudget } from './run-budget.ts'
import { openCalls } from './suspended.ts'
import { type TokenMeter, tokenMeter } from './token-meter.ts'
import type { AgentTurn } from './turn.ts'

export const defaultLimits: RunLimits = {
  rounds: 8,
  depth: 8,
  modelCalls: 100,
  steps: 200,
  context: 16_000,
  toolMs: 60_000,
  turnMs: runTimeOutMs,
}

/**
 * How long a resumed run that has no time left may take to tell what is recorded, so that this is
 * kept. Nothing new begins in it.
 */
const toldAgainMs = 1_000

/** The answer of a turn with a format, which was held back until it was checked. */
const wholeAnswer = ({ text, by, finishReason }: AgentAnswer): TokenEvent | undefined => {
  if (text !== '') return { event: 'token', agent: by, step_id: by, text }
  if (finishReason === 'stop') throw new ModelOutputInvalid(`${by} gave no answer in the format`)
  return undefined
}

/** An event as it is kept for those who follow the turn: what an agent waits with may be large. */
const withoutState = (event: AgentEvent): AgentEvent => {
  if (event.event !== 'agent_completed' || !event.answer?.suspended) return event
  const { suspended: _, ...answer } = event.answer
  return { ...event, answer }
}

/** The place of the agent that a turn is given to. */
const first = { at: '0', depth: 0, parent: null, outputs: [], final: true }

/** What a run has used of its agent's limits; undefined where there are none. */
const ownLimits = (
  limits: AgentLimits,
  { ms }: RecordedUse,
  meter: TokenMeter,
  clock: Clock,
): OwnLimits | undefined => {
  if (Object.keys(limits).length === 0) return undefined
  const elapsed = stopwatch(clock, ms)
  const used = () => {
    const { usage, charges } = meter.total()
    return {
      tokens: usage.promptTokens + usage.completionTokens,
      charge: charges.reduce((sum, { charge }) => sum + charge, 0),
      ms: elapsed(),
    }
  }
  return { limits, used }
}

const none: readonly never[] = []

type Options = RuntimePorts & { limits?: Partial<RunLimits>; phrases?: KeywordTable }

/**
 * The end of a turn; `toolCallsIn` gives the tools that its words call. An answer that was cut off
 * calls none, so that its end is told.
 */
const doneWith = (
  { text, by, finishReason, suspended }: AgentAnswer,
  meter: TokenMeter,
  limit: ReachedLimit | undefined,
  toolCallsIn: (text: string) => readonly ToolCall[],
): TurnDone => {
  const { usage, charges } = meter.total()
  const reason = limit ? 'length' : finishReason
  const done: TurnDone = { event: 'done', text, agent: by, finish_reason: reason, usage, charges }
  if (suspended) {
    const tool_calls = openCalls(suspended)
    return { ...done, finish_reason: 'tool_calls', tool_calls, waits: true, suspended }
  }
  if (limit) done.limit = limit
  if (reason === 'length' || reason === 'content_filter') return done
  const calls = toolCallsIn(text)
  return calls.length > 0 ? { ...done, finish_reason: 'tool_calls', tool_calls: calls } : done
}

/**
 * The tools that words in the answer of this agent may call; absent: all. A client that offers
 * tools answers every call, so it is shown none that it did not offer.
 */
const offeredKeywords = (turn: AgentTurn, agentId: string): readonly string[] | undefined => {
  if (turn.format) return none
  const { keywordTools } = turn.agents.get(agentId) ?? turn.agent
  if (keywordTools === false) return none
  return turn.keywordTools ?? (turn.clientTools ? none : undefined)
}

/**
 * `(turn) => Observable<AgentEvent>`. Cold: a subscription is a run. Ends with one `done`, or with
 * ModelUnavailable, ModelTimeout, ModelFault, AgentFault, TurnTimeout, LimitReached or what the
 * host's functions threw. Unsubscribing stops every agent, model call and tool. Share it (`share`,
 * `publish`) when more than one listens.
 */
export const agentRuntime = ({ limits, phrases = keywordPhrases, ...ports }: Options) => {
  const { clock } = ports
  const bounds = { ...defaultLimits, ...limits }
  const begin = agentRun(ports, bounds)
  const toolCalls = keywordCalls(phrases)

  return (turn: AgentTurn): Observable<AgentEvent> =>
    new Observable((subscriber) => {
      const { agent, journal = noJournal } = turn
      const { used } = journal
      const meter = turn.meter ?? tokenMeter(used.answers)
      const own = turn.limits && ownLimits(turn.limits, used, meter, clock)
      const { tokens, charge, seconds } = turn.limits ?? {}
      const watched = tokens !== undefined || charge !== undefined
      const budget = runBudget(bounds, used, own)
      let preceding: ReturnType<typeof attribution> | undefined
      let answer: AgentAnswer | undefined
      /** The agent that gave the answer: others may have its name. */
      let answeredBy = agent.agentId

      /** What agents end with once something was refused them is not how the run ends. */
      const limitOf = () => {
        const reached = budget.reached()
        return reached?.setBy === 'agent' ? new LimitReached(reached) : undefined
      }

      const resume = turn.resume?.from
      const place = {
        turn,
        journal,
        budget,
        callIds: callIds(journal.used.callIds),
        resume,
        ...first,
      }
      begin(agent, place, subscriber, {
        next(event) {
          meter.see(event)
          if (event.event === 'agent_completed' && event.answer) {
            answer = event.answer
            if (event.agent === answer.by) answeredBy = event.agent_id
          }
          if (mingles(event)) preceding ??= attribution(clock)
          const before = preceding?.(event)
          if (before) subscriber.next(before)
          subscriber.next(withoutState(event))
          const over = watched && event.event === 'token' && !event.replayed && budget.passed()
          if (over) subscriber.error(new LimitReached(over))
        },
        error: (error) => subscriber.error(limitOf() ?? error),
        complete() {
          const limited = limitOf()
          if (limited) throw limited
          const said = turn.format && answer && wholeAnswer(answer)
          if (said) subscriber.next(said)
          if (!answer) throw new ModelFault(`${agent.name} ended without an answer`)
          const offered = offeredKeywords(turn, answeredBy)
          const callsIn = (text: string) => toolCalls(text, clock.id, offered)
          subscriber.next(doneWith(answer, meter, budget.reached(), callsIn))
          subscriber.complete()
        },
      })
      // One that has ended in one go has nothing to wait for.
      if (subscriber.closed) return
      const late = setTimeout(
        () => subscriber.error(new TurnTimeout(`over ${bounds.turnMs} ms`)),
        bounds.turnMs,
      )
      subscriber.add(() => clearTimeout(late))
      if (!own || seconds === undefined) return
      const over = () => {
        const spent = own.used().ms / 1_000
        const reached = { limit: 'seconds', used: spent, allowed: seconds } as const
        subscriber.error(new LimitReached({ ...reached, setBy: 'agent' }))
      }
      const left = seconds * 1_000 - used.ms
      const timer = setTimeout(over, left > 0 ? left : toldAgainMs)
      subscriber.add(() => clearTimeout(timer))
    })
}
