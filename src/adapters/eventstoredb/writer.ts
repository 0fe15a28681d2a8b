import { setTimeout as pause } from 'node:timers/promises'
import { type Appended, StoreUnavailable } from '../../ports/event-store.ts'
import { type AppendCall, appendCall } from './append-call.ts'
import type { AppendRequest } from './append-request.ts'
import { backoff } from './backoff.ts'
import type { OpenedCall } from './channel.ts'
import { isLeaderless } from './errors.ts'

/** The least time between one connection and the next: many appends wait for the same one. */
const connectEveryMs = 100

type Options = {
  connect: () => Promise<OpenedCall>
  /** How long the server may be silent before its connection is given up for another. */
  silenceMs: number
  /** How long an append waits for a server that can write. */
  patienceMs: number
  closing: AbortSignal
}

/**
 * Appends over one call, which is replaced when it ends, or when its server has no leader to write
 * to. An append whose fate is unknown is sent again with the same ids, which settles it.
 */
export const writer = ({ connect, silenceMs, patienceMs, closing }: Options) => {
  let current: AppendCall | undefined
  let connectedAt = Number.NEGATIVE_INFINITY
  const open = new Set<AppendCall>()

  const connecting = async (): Promise<OpenedCall> => {
    const waitMs = connectedAt + connectEveryMs - performance.now()
    if (waitMs > 0) await pause(waitMs, undefined, { signal: closing })
    connectedAt = performance.now()
    return connect()
  }

  const opened = (): AppendCall => {
    const call = appendCall(connecting(), {
      silenceMs,
      onOver: () => {
        if (current === call) current = undefined
      },
      onEnd: () => open.delete(call),
    })
    open.add(call)
    return call
  }

  const append = async (request: AppendRequest): Promise<Appended> => {
    const trying = backoff(patienceMs, closing)
    for (;;) {
      if (closing.aborted) throw new StoreUnavailable('EventStoreDB: the store is closed')
      current ??= opened()
      const call = current
      try {
        return await call.send(request)
      } catch (error) {
        if (isLeaderless(error)) call.retire()
        await trying.wait(error)
      }
    }
  }

  const close = (): void => {
    for (const call of open) call.end(new StoreUnavailable('EventStoreDB: the store is closed'))
  }

  return { append, close }
}
