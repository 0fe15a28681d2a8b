import type { RecordStepsCommand } from '../../../commands/record-steps.ts'
import type { RunView } from '../../../projections/runs.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import { attemptsOf, isExhausted, isSuspect } from '../../domain/session/runs.ts'
import { sessionStream } from '../../domain/session/session.ts'
import type { Load } from '../../event-sourcing/transactor.ts'
import { systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { deferred } from '../../support/deferred.ts'
import type { LiveTurns } from '../run/live-turns.ts'
import type { RunNames } from './close-run.ts'
import type { ResumeOrClose } from './resume-or-close.ts'
import type { SuspectRuns } from './suspects.ts'

type Uses = {
  load: Load
  resumeOrClose: ResumeOrClose
  find: LiveTurns['find']
  recordSteps: RecordStepsCommand
  suspects: SuspectRuns
  namesOf: RunNames
  clock: Pick<Clock, 'now'>
  /** This process's life. */
  node: string
  log: Log
  /** How long a suspect is waited for that was never cleared. */
  patienceMs?: number
}

type Each = (run: RunView, work: () => Promise<void>) => Promise<void>

const doing: Each = (_, work) => work()

type Orphan = {
  run: RunView
  attempts: number
  cleared: number
  isSuspect: boolean
  isExhausted: boolean
}

/**
 * The wait for a suspect's next step before another is resumed; longer each time it was cleared.
 */
const firstPatienceMs = 2_000
const patienceGrowth = 4
/** Beyond that, the wait exceeds the 30 minutes of a run. */
const mostGrowths = 5

/**
 * Resumes runs whose process is gone: suspects first, one at a time. The next suspect is resumed
 * once the last has recorded a step, has stopped, or was outlived by its process. So a death of the
 * process in between incriminates one.
 */
export const orphanRuns = (uses: Uses) => {
  const { load, resumeOrClose, recordSteps, suspects, clock, node, log } = uses
  const { patienceMs = firstPatienceMs } = uses
  /** Runs that wait while suspects are resumed, by their ids. */
  const line = new Map<string, Orphan>()
  const stopping = deferred<true>()
  let isStopping = false
  let working: Promise<void> | undefined

  const clear = async (run: RunView): Promise<boolean> => {
    const { run_id: runId, session_id: sessionId, organization_id } = run
    const owner = { node, attempt: uses.find(runId)?.attempt ?? 1 }
    const steps: SessionEvent[] = [{ type: 'RunCleared', data: { runId, node } }]
    const call = systemCall(runId, clock.now(), organization_id)
    try {
      await recordSteps({ sessionId, runId, steps, owner }, call)
      return true
    } catch (err) {
      log.error({ err, run_id: runId }, 'a run could not be cleared')
      return false
    }
  }

  /** Whether the suspect is settled, or the process stops, within so many milliseconds. */
  const settledWithin = async (settled: Promise<true>, ms: number): Promise<boolean> => {
    const passed = deferred<false>()
    const timer = setTimeout(() => passed.resolve(false), ms)
    const isSettled = await Promise.race([settled, stopping.promise, passed.promise])
    clearTimeout(timer)
    return isSettled
  }

  const trySuspect = async ({ run, cleared }: Orphan): Promise<void> => {
    const { run_id: runId } = run
    let isTried = true
    // One that waits for its place is taken over later, perhaps beside another.
    const besideSuspects = () => !isTried || suspects.count > 1
    const settled = deferred<true>()
    const settle = () => {
      suspects.remove(runId)
      settled.resolve(true)
    }
    suspects.add(runId, settle)
    try {
      log.warn(await uses.namesOf(run), 'a run is resumed alone: its last processes died')
      await resumeOrClose(run, besideSuspects)
      const turn = uses.find(runId)
      if (!turn) return settle()
      void turn.outcome.then(settle)
    } catch (error) {
      settle()
      throw error
    }
    const ms = patienceMs * patienceGrowth ** Math.min(cleared, mostGrowths)
    while (!(await settledWithin(settled.promise, ms))) if (await clear(run)) break
    isTried = false
  }

  const stateOf = async (run: RunView): Promise<Orphan> => {
    const { run_id: runId, session_id, organization_id, node: owner, attempt = 1 } = run
    const { state } = await load(sessionStream(organization_id, session_id))
    const request = { runId, from: { node: owner, attempt } }
    return {
      run,
      attempts: attemptsOf(request, state),
      cleared: state.running?.cleared ?? 0,
      isSuspect: isSuspect(request, state),
      isExhausted: isExhausted(request, state),
    }
  }

  /** Resumes suspects first, those with the most attempts before others; then all other runs. */
  const work = async (): Promise<void> => {
    while (line.size > 0)
      for (const orphan of [...line.values()].sort((a, b) => b.attempts - a.attempts)) {
        if (isStopping) return
        const { run, isSuspect } = orphan
        await (isSuspect ? trySuspect(orphan) : resumeOrClose(run)).catch((err: unknown) =>
          log.error({ err, run_id: run.run_id }, 'a run could not go on'),
        )
        line.delete(run.run_id)
      }
    working = undefined
  }

  return {
    /**
     * Resolves when they are resumed or closed. If one of them is a suspect, all are resumed in the
     * background. `each` does the work on one run. @throws StoreUnavailable
     */
    async resume(runs: readonly RunView[], each: Each = doing): Promise<void> {
      const orphans: Orphan[] = []
      for (const run of runs)
        if (!line.has(run.run_id) && !suspects.has(run.run_id))
          await each(run, async () => {
            orphans.push(await stateOf(run))
          })
      const mayWait = line.size > 0 || orphans.some(({ isSuspect }) => isSuspect)
      for (const orphan of orphans) {
        if (mayWait && !orphan.isExhausted) line.set(orphan.run.run_id, orphan)
        else await each(orphan.run, () => resumeOrClose(orphan.run))
      }
      if (line.size > 0) working ??= work()
    },
    /** Resolves when no other run will be resumed. */
    async stop(): Promise<void> {
      isStopping = true
      stopping.resolve(true)
      await working
    },
  }
}
export type OrphanRuns = ReturnType<typeof orphanRuns>
