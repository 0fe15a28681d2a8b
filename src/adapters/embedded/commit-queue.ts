/**
 * A change that waits for a commit. `prepare` reads the store and may throw: only its own caller
 * gets that error. The function it returns then writes, and fails only together with all others.
 */
export type QueuedWrite<T> = {
  bytes: number
  prepare(): () => T
  /** Its caller has been answered already: after a failed commit it goes first into the next. */
  owed?: boolean
}

type Queued = {
  bytes: number
  owed: boolean
  /** Runs in the transaction; returns a function that answers the caller once it is on disk. */
  run(): () => void
  fail(error: Error): void
}

type Commits = {
  /** Everything in one transaction that is on disk when it returns; throws with nothing stored. */
  commit(bytes: number, write: () => void): void
  committed(): void
  /** Nothing of the batch was stored; returns the error for its callers. */
  failed(cause: unknown): Error
}

const maxChanges = 1_000
const maxBytes = 4 * 1024 * 1024

/** Gathers changes, in order, and stores them batch by batch, each batch whole or not at all. */
export const commitQueue = ({ commit, committed, failed }: Commits) => {
  let queue: Queued[] = []
  let scheduled = false

  const take = (): Queued[] => {
    let bytes = 0
    let count = 0
    for (const change of queue) {
      bytes += change.bytes
      if (count === maxChanges || (count > 0 && bytes > maxBytes)) break
      count++
    }
    return queue.splice(0, count)
  }

  const flush = (): boolean => {
    const batch = take()
    const settle: (() => void)[] = []
    try {
      const bytes = batch.reduce((sum, change) => sum + change.bytes, 0)
      commit(bytes, () => {
        for (const change of batch) settle.push(change.run())
      })
    } catch (cause) {
      const error = failed(cause)
      queue = [...batch.filter(({ owed }) => owed), ...queue]
      for (const change of batch) change.fail(error)
      return false
    }
    committed()
    for (const tell of settle) tell()
    return true
  }

  const schedule = () => {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      flush()
      if (queue.some(({ owed }) => !owed)) schedule()
    })
  }

  return {
    /** Resolves once the change is on disk. */
    add<T>({ bytes, prepare, owed = false }: QueuedWrite<T>): Promise<T> {
      const stored = new Promise<T>((resolve, reject) => {
        const run = () => {
          let write: () => T
          try {
            write = prepare()
          } catch (error) {
            return () => reject(error)
          }
          const value = write()
          return () => resolve(value)
        }
        queue.push({ bytes, owed, run, fail: owed ? () => {} : reject })
      })
      schedule()
      return stored
    },
    /** Stores the waiting changes, until one fails. */
    drain(): void {
      while (queue.length > 0 && flush());
    },
  }
}
