import { Observable, type Subscriber } from 'rxjs'
import { type AgentLimits, type ReachedLimit, runTimeOutMs } from '../domain/run-limits.ts'
import type { Clock } from '../ports/clock.ts'
import { ModelFault, ModelOutputInvalid, type ToolCall } from '../ports/model.ts'
import { stopwatch } from '../support/stopwatch.ts'
import { LimitReached, TurnTimeout } from './agent.ts'
import type { AgentAnswer, AgentEvent, TokenEvent, TurnDone } from './agent-event.ts'
import type { RunLimits, RuntimePorts } from './agent-kind.ts'
import { attribution, mingles } from './attributed.ts'
import { callIds } from './call-ids.ts'
import { type Journal, noJournal, type RecordedUse } from './journal.ts'
import { type KeywordTable, keywordCalls, keywordPhrases } from './keyword-tools.ts'
import { agentRun } from './run-agent.ts'
import { type OwnLimits, type RunBudget, runBudget } from './run-budget.ts'
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

/** How long a resumed run without time left may replay its recorded steps. Nothing new begins. */
const replayMs = 1_000

/** The answer of a turn with a format, which was held back until it was checked. */
const wholeAnswer = ({ text, by, finishReason }: AgentAnswer): TokenEvent | undefined => {
  if (text !== '') return { event: 'token', agent: by, step_id: by, text }
  if (finishReason === 'stop') throw new ModelOutputInvalid(`${by} gave no answer in the format`)
  return undefined
}

/** An event for followers of the turn, without the state of a waiting agent, which may be large. */
const withoutState = (event: AgentEvent): AgentEvent => {
  if (event.event !== 'agent_completed' || !event.answer?.suspended) return event
  const { suspended: _, ...answer } = event.answer
  return { ...event, answer }
}

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

/** A run under way. */
type Run = {
  turn: AgentTurn
  clock: Clock
  journal: Journal
  meter: TokenMeter
  /** Undefined: its agent has no limits of its own. */
  own: OwnLimits | undefined
  budget: RunBudget
  /** Adds `token_agent` events; undefined until tokens of several agents can mingle. */
  attribute: ReturnType<typeof attribution> | undefined
  answer: AgentAnswer | undefined
  /** The agent that gave the answer: others may have its name. */
  answererId: string
}

const runOf = (turn: AgentTurn, limits: RunLimits, clock: Clock): Run => {
  const { agent, journal = noJournal } = turn
  const { used } = journal
  const meter = turn.meter ?? tokenMeter(used.answers)
  const own = turn.limits && ownLimits(turn.limits, used, meter, clock)
  const budget = runBudget(limits, used, own)
  return {
    turn,
    clock,
    journal,
    meter,
    own,
    budget,
    attribute: undefined,
    answer: undefined,
    answererId: agent.agentId,
  }
}

/** The place of the agent that receives the turn. */
const firstPlace = ({ turn, journal, budget }: Run) => ({
  turn,
  journal,
  budget,
  callIds: callIds(journal.used.callIds),
  resume: turn.resume?.from,
  at: '0',
  depth: 0,
  parent: null,
  outputs: [],
  final: true,
})

/** Notes the answer that an event ends an agent with: the last one is the turn's. */
const noteAnswer = (run: Run, event: AgentEvent): void => {
  if (event.event !== 'agent_completed' || !event.answer) return
  run.answer = event.answer
  if (event.agent === event.answer.by) run.answererId = event.agent_id
}

/** Passes an event on; ends the run once its tokens or its credits are used up. */
const passOn = (run: Run, event: AgentEvent, subscriber: Subscriber<AgentEvent>): void => {
  const { turn, clock, meter, budget } = run
  meter.see(event)
  noteAnswer(run, event)
  if (mingles(event)) run.attribute ??= attribution(clock)
  const tokenAgent = run.attribute?.(event)
  if (tokenAgent) subscriber.next(tokenAgent)
  subscriber.next(withoutState(event))
  const { tokens, charge } = turn.limits ?? {}
  if (tokens === undefined && charge === undefined) return
  if (event.event !== 'token' || event.replayed) return
  const limit = budget.passed()
  if (limit) subscriber.error(new LimitReached(limit))
}

/** The error of a run that was refused something: it replaces the errors that this led to. */
const limitError = ({ budget }: Run): LimitReached | undefined => {
  const reached = budget.reached()
  return reached?.setBy === 'agent' ? new LimitReached(reached) : undefined
}

/** Ends a run with its answer. @throws LimitReached, ModelFault, ModelOutputInvalid */
const finish = (
  run: Run,
  toolCalls: ReturnType<typeof keywordCalls>,
  subscriber: Subscriber<AgentEvent>,
): void => {
  const { turn, clock, meter, budget, answer, answererId } = run
  const limit = limitError(run)
  if (limit) throw limit
  const token = turn.format && answer && wholeAnswer(answer)
  if (token) subscriber.next(token)
  if (!answer) throw new ModelFault(`${turn.agent.name} ended without an answer`)
  const offered = offeredKeywords(turn, answererId)
  const callsIn = (text: string) => toolCalls(text, clock.id, offered)
  subscriber.next(doneWith(answer, meter, budget.reached(), callsIn))
  subscriber.complete()
}

/** Ends a run with an error after a time. */
const failAfter = (
  ms: number,
  subscriber: Subscriber<AgentEvent>,
  error: () => TurnTimeout | LimitReached,
): void => {
  const timer = setTimeout(() => subscriber.error(error()), ms)
  subscriber.add(() => clearTimeout(timer))
}

/** Ends a run at the time limit of its agent, if there is one. */
const limitSeconds = ({ turn, journal, own }: Run, subscriber: Subscriber<AgentEvent>): void => {
  const { seconds } = turn.limits ?? {}
  if (!own || seconds === undefined) return
  const left = seconds * 1_000 - journal.used.ms
  failAfter(left > 0 ? left : replayMs, subscriber, () => {
    const used = own.used().ms / 1_000
    return new LimitReached({ limit: 'seconds', used, allowed: seconds, setBy: 'agent' })
  })
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
  const startAgent = agentRun(ports, bounds)
  const toolCalls = keywordCalls(phrases)

  return (turn: AgentTurn): Observable<AgentEvent> =>
    new Observable((subscriber) => {
      const run = runOf(turn, bounds, clock)
      startAgent(turn.agent, firstPlace(run), subscriber, {
        next: (event) => passOn(run, event, subscriber),
        error: (error) => subscriber.error(limitError(run) ?? error),
        complete: () => finish(run, toolCalls, subscriber),
      })
      // A run that has ended synchronously needs no timers.
      if (subscriber.closed) return
      const timeout = () => new TurnTimeout(`over ${bounds.turnMs} ms`)
      failAfter(bounds.turnMs, subscriber, timeout)
      limitSeconds(run, subscriber)
    })
}
