import type { Log } from '../ports/log.ts'

type Options = {
  /** Does one piece of work; what it throws is logged, and the work is given up until added again. */
  work(id: string): Promise<void>
  log: Log
  /** Pieces under way at once. */
  most: number
  /** What the work is, for the log. */
  what: string
}

/** Works through ids in the order they came, a few at once, none twice at the same time. */
export const workers = ({ work, log, most, what }: Options) => {
  const waiting = new Set<string>()
  const busy = new Map<string, Promise<void>>()
  let stopped = false

  const next = (): void => {
    for (const id of waiting) {
      if (stopped || busy.size >= most) return
      if (busy.has(id)) continue
      waiting.delete(id)
      const done = work(id)
        .catch((err) => log.error({ err, id }, `${what} failed`))
        .finally(() => {
          busy.delete(id)
          next()
        })
      busy.set(id, done)
    }
  }

  return {
    add(id: string): void {
      if (stopped) return
      waiting.add(id)
      next()
    },
    /** Takes up nothing more; resolves when what is under way has ended, or after a while. */
    async stop(withinMs = 2_000): Promise<void> {
      stopped = true
      waiting.clear()
      const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
      await Promise.race([Promise.all(busy.values()), late])
    },
  }
}
