import { Observable } from 'rxjs'

/**
 * What is left of a run's model calls and steps, shared by all agents that work in it. A step is an
 * agent that starts, or a tool that is called. Once something was refused, everything is: no agent
 * starts and no model is asked, so that the run ends with what was said.
 */
export type RunBudget = {
  /** Whether there was a model call left; it is used now. */
  takeCall(): boolean
  /** Whether there was a step left; it is used now. */
  takeStep(): boolean
  /** Whether something was refused. */
  readonly spent: boolean
  /** A model has answered: from now on `pause` waits. */
  answered(): void
  /**
   * Completes in a later turn of the event loop, so that other work and a cancellation come in
   * between; at once as long as no model of the run has answered.
   */
  pause(): Observable<never>
}

type Counts = { modelCalls: number; steps: number }

/** `used`: what is recorded is counted before, and takes nothing when it is told again. */
export const runBudget = (
  limits: Counts,
  used: Counts = { modelCalls: 0, steps: 0 },
): RunBudget => {
  let calls = Math.max(0, limits.modelCalls - used.modelCalls)
  let steps = Math.max(0, limits.steps - used.steps)
  let waits = false
  let spent = false
  return {
    takeCall() {
      if (calls === 0) spent = true
      if (spent) return false
      calls--
      return true
    },
    takeStep() {
      if (steps === 0) spent = true
      if (spent) return false
      steps--
      return true
    },
    get spent() {
      return spent
    },
    answered() {
      waits = true
    },
    pause: () =>
      new Observable((subscriber) => {
        if (!waits) {
          subscriber.complete()
          return undefined
        }
        const waiting = setImmediate(() => subscriber.complete())
        return () => clearImmediate(waiting)
      }),
  }
}
