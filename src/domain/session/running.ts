/** The process that a run is run by, and in which attempt: no other appends to it. */
export type RunOwner = { node: string; attempt: number }

/** The run under way, and whose it is. */
export type Running = RunOwner & {
  runId: string
  payerId: string
  /** Attempts up to this one do not count: since then it had a step, a pause or a handover. */
  base: number
  /** When it was last resumed, other suspects were in flight in that process. */
  besideSuspects: boolean
  /** How often a process outlived the wait for it, since its last recorded step. */
  cleared: number
  /** No process runs it yet, and its owner is who queued it. */
  queued?: true
}

/** A run's first attempt. */
export const firstAttempt = { attempt: 1, base: 0, besideSuspects: false, cleared: 0 }

/** The most attempts of a run without a recorded step between them: then it is interrupted. */
export const mostAttempts = 3

/** Attempts since the last recorded step, the present one included. */
export const attemptsInVain = ({ attempt, base }: Pick<Running, 'attempt' | 'base'>): number =>
  attempt - base

export const evolveRunning = {
  resumed: (
    running: Running,
    { node, attempt, besideSuspects = false }: RunOwner & { besideSuspects?: boolean | undefined },
  ): Running => ({
    ...running,
    node,
    attempt,
    besideSuspects,
  }),
  /** The attempt in which a step was recorded is the first that counts. */
  recorded: (running: Running): Running =>
    attemptsInVain(running) <= 1 && running.cleared === 0
      ? running
      : { ...running, base: Math.max(running.base, running.attempt - 1), cleared: 0 },
  /** No attempt so far counts. */
  rested: (running: Running): Running => ({ ...running, base: running.attempt, cleared: 0 }),
  /** The last attempt does not count; the run stays a suspect. */
  cleared: (running: Running): Running =>
    attemptsInVain(running) < mostAttempts
      ? running
      : {
          ...running,
          base: running.attempt - mostAttempts + 1,
          cleared: running.cleared + 1,
        },
}

/** Whether a run is that process's in that attempt; without an owner, whoever runs it. */
export const isRunBy = (running: RunOwner, owner: RunOwner | undefined): boolean =>
  !owner || (running.node === owner.node && running.attempt === owner.attempt)

/** What a run costs that ends without an answer. */
export const uncharged = { promptTokens: 0, completionTokens: 0, charge: 0 }
