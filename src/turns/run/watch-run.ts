import type { AgentEvent } from '../../agents/agent-event.ts'
import type { Call } from '../../ports/call.ts'
import type { AgentResult } from '../record/run-result.ts'

/** Told what happens in a run, as it happens; it changes nothing and never throws. */
export type RunWatch = { see(event: AgentEvent): void; ended(result: AgentResult): void }

export type WatchedRun = { runId: string; sessionId: string; call: Call; message: string }

export type WatchRun = (run: WatchedRun) => RunWatch

/** Several watches as one. */
export const watchAll =
  (watches: readonly WatchRun[]): WatchRun =>
  (run) => {
    const all = watches.map((watch) => watch(run))
    const [only] = all
    if (all.length === 1 && only) return only
    return {
      see: (event) => {
        for (const watch of all) watch.see(event)
      },
      ended: (result) => {
        for (const watch of all) watch.ended(result)
      },
    }
  }
