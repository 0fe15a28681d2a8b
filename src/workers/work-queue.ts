import type { Log } from '../ports/log.ts'
import { fairQueue } from '../support/fair-queue.ts'

type Options = {
  /** Works on one id. An error is logged, and the id is dropped until it is added again. */
  work(id: string): Promise<void>
  log: Log
  /** The request of an id, for the log. */
  findRequestId?(id: string): Promise<string | undefined>
  /** Ids in progress at once: in all, and of one organization. */
  most: number
  mostOfOne?: number
  /** The name of the work, for the log. */
  what: string
}

const within = (ms: number, done: Promise<unknown>): Promise<unknown> =>
  Promise.race([done, new Promise((resolve) => setTimeout(resolve, ms).unref())])

/**
 * Works through ids, a few at once, none twice at the same time. Organizations take turns, and the
 * ids of one come in the order they were added.
 */
export const workQueue = ({ work, log, findRequestId, most, mostOfOne, what }: Options) => {
  const queue = fairQueue<string>(most, mostOfOne)
  const busy = new Map<string, Promise<void>>()
  /** Ids added during their own work. */
  const again = new Map<string, string>()
  let stopped = false

  const add = (organizationId: string, id: string): void => {
    if (stopped) return
    if (busy.has(id)) again.set(id, organizationId)
    else queue.add(organizationId, id)
    next()
  }

  const release = (id: string): void => {
    busy.delete(id)
    const organizationId = again.get(id)
    again.delete(id)
    if (organizationId === undefined) next()
    else add(organizationId, id)
  }

  const next = (): void => {
    for (let entered = stopped ? undefined : queue.next(); entered; entered = queue.next()) {
      const { item: id, leave } = entered
      const done = work(id)
        .catch(async (err) => {
          const reqId = await findRequestId?.(id).catch(() => undefined)
          log.error({ err, ...(reqId === undefined ? {} : { reqId }), id }, `${what} failed`)
        })
        .finally(() => {
          leave()
          release(id)
        })
      busy.set(id, done)
    }
  }

  /** Ids that wait or are in progress. */
  const length = (): number => queue.length() + busy.size

  const allDone = async () => {
    while (length() > 0) await Promise.all(busy.values())
  }

  return {
    add,
    length,
    /** Resolves when the queue is empty and idle, or after `withinMs`. */
    idle: (withinMs: number): Promise<unknown> => within(withinMs, allDone()),
    /** Starts no more work; resolves when the running work has ended, or after `withinMs`. */
    async stop(withinMs = 2_000): Promise<void> {
      stopped = true
      queue.clear()
      await within(withinMs, Promise.all(busy.values()))
    },
  }
}
