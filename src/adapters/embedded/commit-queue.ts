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

/** A change with its caller, and what the caller is told once it is on disk. */
type Waiting = {
  change: QueuedWrite<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  value: unknown
  /** Its own error, in place of a value. */
  refused: { error: unknown } | undefined
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
  /** The error of one `prepare`, as its caller is told. */
  refused(error: unknown): unknown
}

const maxChanges = 1_000
const maxBytes = 4 * 1024 * 1024

const isAnswered = ({ change }: Waiting): boolean => change.owed === true

/**
 * Gathers changes, in order, and stores them batch by batch, each batch whole or not at all. A
 * batch is begun when the one before is on disk: what comes meanwhile makes up the next.
 */
export const commitQueue = ({ commit, committed, failed, refused }: Commits) => {
  let queue: Waiting[] = []
  let scheduled = false
  let under: Promise<void> | undefined

  /** How many of those that wait go into the next batch. */
  const sizeOfNext = (): number => {
    let subjects: Set<string> | undefined
    let bytes = 0
    for (const [n, { change }] of queue.entries()) {
      if (change.alone) return n === 0 ? 1 : n
      bytes += change.bytes
      if (n === maxChanges || (n > 0 && bytes > maxBytes)) return n
      const { about } = change
      if (about === undefined) continue
      subjects ??= new Set()
      if (subjects.has(about)) return n
      subjects.add(about)
    }
    return queue.length
  }

  const take = (): Waiting[] => {
    const count = sizeOfNext()
    const batch = queue
    queue = batch.splice(count)
    return batch
  }

  const refuse = (batch: readonly Waiting[], cause: unknown) => {
    const error = failed(cause)
    queue = [...batch.filter(isAnswered), ...queue]
    for (const entry of batch) if (!isAnswered(entry)) entry.reject(error)
  }

  /** Writes one change in the transaction; false when it has to wait for the next. */
  const apply = (entry: Waiting): boolean => {
    let write: () => unknown
    try {
      write = entry.change.prepare()
    } catch (error) {
      if (error instanceof NotYet) return false
      entry.refused = { error: refused(error) }
      return true
    }
    entry.value = write()
    return true
  }

  /** Begins a commit; false when it has failed at once. */
  const flush = (): boolean => {
    const batch = take()
    const write = () => {
      const later = batch.findIndex((entry) => !apply(entry))
      if (later >= 0) queue = [...batch.splice(later), ...queue]
    }
    const answer = () => {
      committed()
      for (const { resolve, reject, refused, value } of batch)
        if (refused) reject(refused.error)
        else resolve(value)
    }
    try {
      const bytes = batch.reduce((sum, { change }) => sum + change.bytes, 0)
      const done = commit(bytes, write)
      if (!done) {
        answer()
        return true
      }
      under = done
        .then(answer, (cause: unknown) => refuse(batch, cause))
        .then(() => {
          under = undefined
          scheduleIfDue()
        })
      return true
    } catch (cause) {
      refuse(batch, cause)
      return false
    }
  }

  const onImmediate = () => {
    scheduled = false
    if (under) return
    flush()
    scheduleIfDue()
  }

  const schedule = () => {
    if (scheduled || under) return
    scheduled = true
    setImmediate(onImmediate)
  }

  const scheduleIfDue = () => {
    if (!queue.every(isAnswered)) schedule()
  }

  return {
    /** Resolves once the change is on disk. */
    add<T>(change: QueuedWrite<T>): Promise<T> {
      const stored = new Promise<T>((resolve, reject) => {
        queue.push({
          change,
          resolve: resolve as (value: unknown) => void,
          reject,
          value: undefined,
          refused: undefined,
        })
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
