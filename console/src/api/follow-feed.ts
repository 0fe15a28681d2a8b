import { z } from 'zod'
import { eventStream } from './event-stream.ts'
import { ApiError, isTransient } from './problem.ts'

const change = z.object({
  op: z.enum(['upsert', 'delete']),
  id: z.string(),
  document: z.unknown().optional(),
  position: z.number(),
})

export type FeedChange = z.infer<typeof change>
export type FeedState = 'connecting' | 'live' | 'failed'

type FollowOptions = {
  signal: AbortSignal
  /** Of an earlier connection: continues after it, else from now on. */
  lastId?: string | undefined
  onChange: (change: FeedChange, lastId: string | undefined) => void
  /** `failed` is final: the server refuses, and no later attempt will change that. */
  onState?: (state: FeedState, error?: unknown) => void
}

const firstDelayMs = 500
const longestDelayMs = 15_000

const delay = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })

/** The path of a feed of an organization. */
export const feedPath = (organizationId: string, readModel: string): string =>
  `/api/admin/organizations/${organizationId}/feeds/${encodeURIComponent(readModel)}`

/**
 * Follows the changes of a read model until it is aborted. After a lost connection it resumes
 * behind the last id, so that nothing is missed.
 */
export const followFeed = async (path: string, options: FollowOptions): Promise<void> => {
  const { signal, onChange, onState } = options
  let { lastId } = options
  let attempt = 0
  const onOpen = () => {
    attempt = 0
    onState?.('live')
  }
  while (!signal.aborted) {
    onState?.('connecting')
    try {
      const headers: HeadersInit = lastId === undefined ? {} : { 'last-event-id': lastId }
      for await (const item of eventStream(`${path}?snapshot=false`, { signal, headers }, onOpen)) {
        lastId = item.id ?? lastId
        if (item.data) onChange(change.parse(JSON.parse(item.data)), lastId)
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && !isTransient(error)) {
        onState?.('failed', error)
        return
      }
    }
    await delay(Math.min(longestDelayMs, firstDelayMs * 2 ** attempt), signal)
    attempt++
  }
}
