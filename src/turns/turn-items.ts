import type { AgentEvent } from '../agents/agent-event.ts'
import type { Refusal } from '../domain/refusal.ts'

export type TurnFailed = { event: 'failed'; code: string; message: string }

/** One item that clients see of a turn: its events in order, then its end. */
export type TurnItem =
  | AgentEvent
  | TurnFailed
  /** Another process resumes the turn: the items that follow repeat it from its start. */
  | { event: 'run_resumed'; attempt: number }

export const failedItem = ({ code, message }: Refusal): TurnFailed => ({
  event: 'failed',
  code,
  message,
})

const argumentsIn = (item: TurnItem): number => {
  let length = 0
  if (item.event === 'approval_required') return item.arguments.length
  if (item.event === 'done')
    for (const call of item.tool_calls ?? []) length += call.arguments.length
  return length
}

/**
 * The items of one turn, kept so that any number of clients can follow it from any place. Each
 * client pulls from its own place, so a slow one delays no other and needs no buffer. `first` is
 * the number of the first item, when those before it are not kept.
 */
export const turnItems = (first = 0) => {
  const items: TurnItem[] = []
  let characters = 0
  let closed = false
  /** Those who wait for more, as long as somebody does. */
  let sleeping: (() => void)[] | undefined

  const wake = () => {
    const woken = sleeping
    sleeping = undefined
    for (const resume of woken ?? []) resume()
  }

  const sleep = (resume: () => void) => {
    sleeping ??= []
    sleeping.push(resume)
  }

  return {
    /** The number of the first item that is kept. */
    first,
    /** The number of the item that comes next. */
    end: (): number => first + items.length,
    push(item: TurnItem): void {
      items.push(item)
      characters += item.event === 'token' ? item.text.length + 50 : 200 + argumentsIn(item)
      if (sleeping) wake()
    },
    close(): void {
      closed = true
      wake()
    },
    /**
     * Items from a place on, in batches, until the turn has ended or the signal aborts. It is not a
     * generator, which would take several promises more for each batch.
     */
    follow(from: number, signal?: AbortSignal): AsyncIterableIterator<readonly TurnItem[]> {
      let next = Math.max(0, from - first)
      const stop = () => wake()
      signal?.addEventListener('abort', stop)
      const end = () => {
        signal?.removeEventListener('abort', stop)
        return { done: true, value: undefined } as const
      }
      const following = {
        async next() {
          while (!signal?.aborted) {
            if (next < items.length) {
              const value = items.slice(next)
              next = items.length
              return { done: false, value } as const
            }
            if (closed) break
            await new Promise<void>(sleep)
          }
          return end()
        },
        return: async () => end(),
        [Symbol.asyncIterator]: () => following,
      }
      return following
    },
    /** Roughly the memory it takes, in characters. */
    size: (): number => characters,
  }
}

export type TurnItems = ReturnType<typeof turnItems>
