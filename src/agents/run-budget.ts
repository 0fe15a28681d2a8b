import { Observable } from 'rxjs'
import {
  type AgentLimits,
  type AnswerLimit,
  limitOfAnswer,
  limitOfCall,
  limitOfStep,
  limitPassed,
  type ModelCall,
  type ReachedLimit,
  type Used,
} from '../domain/run-limits.ts'
import { nothingUsed } from './journal.ts'

/**
 * What is left of a run's limits, shared by all agents that work in it. A step is an agent that
 * starts, or a tool that is called. Once something was refused, everything is: no agent starts, no
 * tool is called and no model is asked, so that the run ends with what was said.
 */
export type RunBudget = {
  /**
   * Whether there was a model call left; it is used now. `answer` is what its answer may come to.
   * The call is worked out only for a run with limits of its own.
   */
  takeCall(call: () => ModelCall): { answer: AnswerLimit } | undefined
  /** Whether there was a step left; it is used now. */
  takeStep(): boolean
  /** A model's answer was cut off: of this limit nothing is left. */
  cutOff(limit: 'tokens' | 'credits'): void
  /** The limit that the answers under way have passed, if any. */
  passed(): ReachedLimit | undefined
  /** The limit for which something was refused. */
  reached(): ReachedLimit | undefined
  /** A model has answered: from now on `pause` waits. */
  answered(): void
  /**
   * Completes in a later turn of the event loop, so that other work and a cancellation come in
   * between; undefined as long as no model of the run has answered.
   */
  pause(): Observable<never> | undefined
}

const laterTurn = new Observable<never>((subscriber) => {
  const waiting = setImmediate(() => subscriber.complete())
  return () => clearImmediate(waiting)
})

type Counts = { modelCalls: number; steps: number }

/** Limits of the agent, and what of them is used but for the steps. */
export type OwnLimits = { limits: AgentLimits; used(): Omit<Used, 'steps'> }

const unlimited: OwnLimits = { limits: {}, used: () => ({ tokens: 0, charge: 0, ms: 0 }) }

/** `before`: the recorded use, which replaying does not count again. */
export const runBudget = (
  most: Counts,
  before: Counts = nothingUsed,
  { limits, used }: OwnLimits = unlimited,
): RunBudget => {
  let { modelCalls, steps } = before
  let isWaiting = false
  let reached: ReachedLimit | undefined
  const limited = Object.keys(limits).length > 0
  const now = (): Used => ({ steps, ...used() })
  const ofPlatform = (limit: 'steps' | 'model_calls', used: number, allowed: number) => {
    if (used >= allowed) reached ??= { limit, used, allowed, setBy: 'platform' }
  }
  return {
    takeCall(call) {
      if (reached) return undefined
      const own = limited ? limitOfCall(limits, now(), call()) : { answer: undefined }
      if ('reached' in own) reached = own.reached
      ofPlatform('model_calls', modelCalls, most.modelCalls)
      if (reached || 'reached' in own) return undefined
      modelCalls++
      return own
    },
    takeStep() {
      if (limited) reached ??= limitOfStep(limits, now())
      ofPlatform('steps', steps, most.steps)
      if (reached) return false
      steps++
      return true
    },
    cutOff(limit) {
      reached ??= limitOfAnswer(limit, limits, now())
    },
    passed: () => (limited ? limitPassed(limits, now()) : undefined),
    reached: () => reached,
    answered() {
      isWaiting = true
    },
    pause: () => (isWaiting ? laterTurn : undefined),
  }
}
