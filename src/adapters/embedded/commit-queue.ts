/**
 * A change that waits for a commit. `prepare` reads the store and may throw: only its own caller
 * gets that error. The function it returns then writes, and fails only together with all others.
 */
export type QueuedWrite<T> = {
  bytes: number
  /**
   * What the change reads and writes: of changes that name the same, each sees the one before on
   * disk. Without it, `prepare` must know itself what the batch has changed.
   */
  about?: string
  /** It goes into a batch of its own: it may read what any other has written. */
  alone?: boolean
  prepare(): () => T
  /** Its caller has been answered already: after a failed commit it goes first into the next. */
  owed?: boolean
}

/** Thrown by `prepare` when it has to read what the same batch writes: it is called again later. */
export class NotYet extends Error {
  override readonly name = 'NotYet'
}

type Queued = {
  bytes: number
  about: string | undefined
  alone: boolean
  owed: boolean
  /** Runs in the transaction; returns a function that answers the caller once it is on disk. */
  run(): () => void
  fail(error: Error): void
}

type Commits = {
  /**
   * Everything that `write` does in one transaction, on disk when it returns or, where it does not
   * wait for the disk, when its promise resolves. Throws or rejects with nothing stored.
   */
  commit(bytes: number, write: () => void): void | Promise<void>
  committed(): void
  /** Nothing of the batch was stored; returns the error for its callers. */
  failed(cause: unknown): Error
}

const maxChanges = 1_000
const maxBytes = 4 * 1024 * 1024

/**
 * Gathers changes, in order, and stores them batch by batch, each batch whole or not at all. A
 * batch is begun when the one before is on disk: what comes meanwhile makes up the next.
 */
export const commitQueue = ({ commit, committed, failed }: Commits) => {
  let queue: Queued[] = []
  let scheduled = false
  let under: Promise<void> | undefined

  const take = (): Queued[] => {
    let bytes = 0
    let count = 0
    const subjects = new Set<string>()
    if (queue[0]?.alone) return queue.splice(0, 1)
    for (const { bytes: own, about, alone } of queue) {
      if (alone) break
      bytes += own
      if (count === maxChanges || (count > 0 && bytes > maxBytes)) break
      if (about !== undefined) {
        if (subjects.has(about)) break
        subjects.add(about)
      }
      count++
    }
    return queue.splice(0, count)
  }

  const refuse = (batch: readonly Queued[], cause: unknown) => {
    const error = failed(cause)
    queue = [...batch.filter(({ owed }) => owed), ...queue]
    for (const change of batch) change.fail(error)
  }

  /** Begins a commit; false when it has failed at once. */
  const flush = (): boolean => {
    let batch = take()
    const settle: (() => void)[] = []
    const write = () => {
      for (const [n, change] of batch.entries())
        try {
          settle.push(change.run())
        } catch (error) {
          if (!(error instanceof NotYet)) throw error
          queue = [...batch.slice(n), ...queue]
          batch = batch.slice(0, n)
          return
        }
    }
    const answer = () => {
      committed()
      for (const tell of settle) tell()
    }
    try {
      const bytes = batch.reduce((sum, change) => sum + change.bytes, 0)
      const done = commit(bytes, write)
      if (!done) {
        answer()
        return true
      }
      under = done
        .then(answer, (cause: unknown) => refuse(batch, cause))
        .then(() => {
          under = undefined
          if (queue.some(({ owed }) => !owed)) schedule()
        })
      return true
    } catch (cause) {
      refuse(batch, cause)
      return false
    }
  }

  const schedule = () => {
    if (scheduled || under) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      if (under) return
      flush()
      if (queue.some(({ owed }) => !owed)) schedule()
    })
  }

  return {
    /** Resolves once the change is on disk. */
    add<T>({ bytes, about, alone = false, prepare, owed = false }: QueuedWrite<T>): Promise<T> {
      const stored = new Promise<T>((resolve, reject) => {
        const run = () => {
          let write: () => T
          try {
            write = prepare()
          } catch (error) {
            if (error instanceof NotYet) throw error
            return () => reject(error)
          }
          const value = write()
          return () => resolve(value)
        }
        queue.push({ bytes, about, alone, owed, run, fail: owed ? () => {} : reject })
      })
      schedule()
      return stored
    },
    /** Stores the waiting changes, until one fails. */
    async drain(): Promise<void> {
      await under
      while (queue.length > 0 && flush()) await under
    },
  }
}
