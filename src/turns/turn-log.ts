import type { AgentEvent } from '../agents/agent-event.ts'

/** One item that clients see of a turn: its events in order, then its end. */
export type TurnItem =
  | AgentEvent
  | { event: 'failed'; code: string; message: string }
  /** Another process goes on with it: what follows is the turn from its start. */
  | { event: 'run_resumed'; attempt: number }

const argumentsIn = (item: TurnItem): number => {
  let length = 0
  if (item.event === 'approval_required') return item.arguments.length
  if (item.event === 'done')
    for (const call of item.tool_calls ?? []) length += call.arguments.length
  return length
}

type Kept = {
  items: TurnItem[]
  closed: boolean
  /** Those who wait for more, as long as somebody does. */
  sleeping: (() => void)[] | undefined
}

const wake = (kept: Kept): void => {
  const { sleeping } = kept
  kept.sleeping = undefined
  for (const resume of sleeping ?? []) resume()
}

/** Not in each log: V8 would make a hidden class and a prototype for each. */
async function* followed(
  kept: Kept,
  from: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly TurnItem[]> {
  const { items } = kept
  let next = Math.max(0, from)
  const sleep = (resume: () => void) => {
    kept.sleeping ??= []
    kept.sleeping.push(resume)
  }
  const stop = () => wake(kept)
  signal?.addEventListener('abort', stop)
  try {
    while (!signal?.aborted) {
      if (next < items.length) {
        const batch = items.slice(next)
        next = items.length
        yield batch
      } else if (kept.closed) return
      else await new Promise<void>(sleep)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * The items of one turn, kept so that any number of clients can follow it from any place. Each
 * client pulls from its own place, so a slow one delays no other and needs no buffer. `first` is
 * the number of the first item, when those before it are not kept.
 */
export const turnLog = (first = 0) => {
  const items: TurnItem[] = []
  const kept: Kept = { items, closed: false, sleeping: undefined }
  let characters = 0

  return {
    /** The number of the first item that is kept. */
    first,
    /** The number of the item that comes next. */
    end: (): number => first + items.length,
    push(item: TurnItem): void {
      items.push(item)
      characters += item.event === 'token' ? item.text.length + 50 : 200 + argumentsIn(item)
      if (kept.sleeping) wake(kept)
    },
    close(): void {
      kept.closed = true
      wake(kept)
    },
    /** Items from a place on, in batches, until the turn has ended or the signal aborts. */
    follow: (from: number, signal?: AbortSignal): AsyncGenerator<readonly TurnItem[]> =>
      followed(kept, from - first, signal),
    /** Roughly the memory it takes, in characters. */
    size: (): number => characters,
  }
}

export type TurnLog = ReturnType<typeof turnLog>
