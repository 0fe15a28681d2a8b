import { Observable } from 'rxjs'
import { ModelFault, ModelOutputInvalid } from '../ports/model.ts'
import { relayed } from '../support/relayed.ts'
import { LimitReached, TurnTimeout } from './agent.ts'
import type { AgentAnswer, AgentEvent, TokenEvent, TurnDone } from './agent-event.ts'
import type { RunLimits, RuntimePorts } from './agent-kind.ts'
import { attribution } from './attributed.ts'
import { noJournal } from './journal.ts'
import { type KeywordTable, keywordCalls, keywordPhrases } from './keyword-tools.ts'
import { agentRun } from './run-agent.ts'
import { runBudget } from './run-budget.ts'
import { openCalls } from './suspended.ts'
import { tokenMeter } from './token-meter.ts'
import type { AgentTurn } from './turn.ts'

export const defaultLimits: RunLimits = {
  rounds: 8,
  depth: 8,
  modelCalls: 100,
  steps: 200,
  context: 16_000,
  toolMs: 60_000,
  turnMs: 1_800_000,
}

/**
 * How long a resumed run that has no time left may take to tell what is recorded, so that this is kept. Nothing new
 * begins in it.
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

type Options = RuntimePorts & { limits?: Partial<RunLimits>; phrases?: KeywordTable }

/**
 * `(turn) => Observable<AgentEvent>`. Cold: a subscription is a run. Ends with one `done`, or with
 * ModelUnavailable, ModelTimeout, ModelFault, AgentFault, TurnTimeout, LimitReached or what the host's functions
 * threw. Unsubscribing stops every agent, model call and tool. Share it (`share`, `publish`) when
 * more than one listens.
 */
export const agentRuntime = ({ limits, phrases = keywordPhrases, ...ports }: Options) => {
  const bounds = { ...defaultLimits, ...limits }
  const run = agentRun(ports, bounds)
  const toolCallsIn = keywordCalls(phrases)

  return (turn: AgentTurn): Observable<AgentEvent> =>
    new Observable((subscriber) => {
      const { journal = noJournal, limits = {} } = turn
      const { used } = journal
      const meter = tokenMeter(used.answers)
      const began = ports.clock.now().getTime()
      const usedSoFar = () => {
        const { usage, charges } = meter.total()
        return {
          tokens: usage.promptTokens + usage.completionTokens,
          charge: charges.reduce((sum, { charge }) => sum + charge, 0),
          ms: used.ms + Math.max(0, ports.clock.now().getTime() - began),
        }
      }
      const budget = runBudget(bounds, used, { limits, used: usedSoFar })
      const { tokens, charge, seconds } = limits
      const watched = tokens !== undefined || charge !== undefined
      /** What agents end with once something was refused them is not how the run ends. */
      const ownLimit = () =>
        budget.reached?.setBy === 'agent' ? new LimitReached(budget.reached) : undefined
      const preceding = attribution(ports.clock)
      let answer: AgentAnswer | undefined

      const done = (): TurnDone => {
        if (!answer) throw new ModelFault(`${turn.agent.name} ended without an answer`)
        const { text, by, finishReason, suspended } = answer
        if (suspended)
          return {
            event: 'done',
            text,
            agent: by,
            finish_reason: 'tool_calls',
            tool_calls: openCalls(suspended),
            waits: true,
            suspended,
            ...meter.total(),
          }
        // A client with tools of its own would answer the calls.
        const toolCalls = turn.clientTools || turn.format ? [] : toolCallsIn(text, ports.clock.id)
        const called = toolCalls.length > 0
        const reason = budget.reached ? 'length' : finishReason
        return {
          event: 'done',
          text,
          agent: by,
          finish_reason: called ? 'tool_calls' : reason,
          ...(called ? { tool_calls: toolCalls } : {}),
          ...(budget.reached ? { limit: budget.reached } : {}),
          ...meter.total(),
        }
      }

      const late = setTimeout(
        () => subscriber.error(new TurnTimeout(`over ${bounds.turnMs} ms`)),
        bounds.turnMs,
      )
      subscriber.add(() => clearTimeout(late))
      if (seconds !== undefined) {
        const over = () => {
          const spent = usedSoFar().ms / 1_000
          const reached = { limit: 'seconds', used: spent, allowed: seconds } as const
          subscriber.error(new LimitReached({ ...reached, setBy: 'agent' }))
        }
        const left = seconds * 1_000 - used.ms
        const timer = setTimeout(over, left > 0 ? left : toldAgainMs)
        subscriber.add(() => clearTimeout(timer))
      }
      const resume = turn.resume ? { resume: turn.resume.from } : {}
      const begin = { at: '0', depth: 0, parent: null, outputs: [], final: true }
      const place = { turn, journal, budget, ...begin, ...resume }
      const events = run(turn.agent, place)
      relayed(events, subscriber, {
        next(event) {
          meter.see(event)
          if (event.event === 'agent_completed' && event.answer) answer = event.answer
          const before = preceding(event)
          if (before) subscriber.next(before)
          subscriber.next(withoutState(event))
          const over =
            watched && event.event === 'token' && !event.replayed ? budget.passed() : undefined
          if (over) subscriber.error(new LimitReached(over))
        },
        error: (error) => subscriber.error(ownLimit() ?? error),
        complete() {
          const limited = ownLimit()
          if (limited) throw limited
          const said = turn.format && answer && wholeAnswer(answer)
          if (said) subscriber.next(said)
          subscriber.next(done())
          subscriber.complete()
        },
      })
    })
}
