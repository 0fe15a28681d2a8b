import type { Log } from '../ports/log.ts'

type Options = {
  /** Works on one id. An error is logged, and the id is dropped until it is added again. */
  work(id: string): Promise<void>
  log: Log
  /** How many ids are worked on at once. */
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
    /** Starts nothing more; resolves when the running work has ended, or after `withinMs`. */
    async stop(withinMs = 2_000): Promise<void> {
      stopped = true
      waiting.clear()
      const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref())
      await Promise.race([Promise.all(busy.values()), late])
    },
  }
}
