import { eventStream, type StreamItem } from '../../api/event-stream.ts'
import { ApiError, isTransient, messageOf } from '../../api/problem.ts'
import { applyItem, isOver, lose, newTurn, type Turn } from './turn.ts'

const mostAttempts = 6
const firstDelayMs = 300
/** Tokens that follow each other closely are shown together. */
const pauseMs = 40

const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        resolve()
      },
      { once: true },
    )
  })

export type LiveTurn = {
  sessionId: string
  /** How many messages of the conversation are older than the turn. */
  after: number
  /** What was asked, until the conversation is read again. */
  question: string | undefined
  /** The session did not exist before. */
  isNew: boolean
  turn: Turn
  /** Why the server refused the message. */
  refusal: unknown
}

type TurnStart = Pick<LiveTurn, 'sessionId' | 'after' | 'question' | 'isNew'> & {
  path: string
  body: unknown
}

const streamPath = (sessionId: string): string =>
  `/api/external/sessions/${encodeURIComponent(sessionId)}/stream?agent_events=plain&include_usage=true`

/** The turn that a page shows while it runs; `onEnd` is called when the stream has ended. */
export const createTurnStore = (onEnd: (sessionId: string) => void) => {
  let live: LiveTurn | undefined
  let abort = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const watchers = new Set<() => void>()

  const publish = () => {
    clearTimeout(timer)
    timer = undefined
    for (const watcher of watchers) watcher()
  }
  const set = (next: LiveTurn | undefined) => {
    live = next
    publish()
  }
  const setTurn = (turn: Turn) => {
    if (live) live = { ...live, turn }
    timer ??= setTimeout(publish, pauseMs)
  }

  const leave = () => {
    abort.abort()
    abort = new AbortController()
  }

  const again = (sessionId: string, signal: AbortSignal): AsyncGenerator<StreamItem> => {
    const lastId = live?.turn.lastId
    const headers: HeadersInit = lastId === undefined ? {} : { 'last-event-id': lastId }
    return eventStream(streamPath(sessionId), { signal, headers })
  }

  /** Reads to the end of the turn, over as many connections as that takes. */
  const read = async (
    sessionId: string,
    first: (signal: AbortSignal) => AsyncGenerator<StreamItem>,
    onRefused: (error: unknown) => void,
  ): Promise<void> => {
    const { signal } = abort
    let items = first(signal)
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      try {
        for await (const item of items) {
          if (signal.aborted || !live) return
          attempt = 0
          setTurn(applyItem(live.turn, item))
        }
      } catch (error) {
        if (signal.aborted || !live) return
        const hasBegun = live.turn.lastId !== undefined
        if (!hasBegun || (error instanceof ApiError && !isTransient(error))) {
          onRefused(error)
          return
        }
      }
      if (signal.aborted || !live) return
      if (isOver(live.turn)) break
      await delay(firstDelayMs * 2 ** attempt, signal)
      if (signal.aborted) return
      items = again(sessionId, signal)
    }
    if (!live) return
    if (!isOver(live.turn)) setTurn(lose(live.turn, 'The connection was lost'))
    publish()
    onEnd(sessionId)
  }

  return {
    get: () => live,
    subscribe(watcher: () => void) {
      watchers.add(watcher)
      return () => {
        watchers.delete(watcher)
      }
    },
    /** Sends what begins a turn, and follows it. */
    start({ path, body, ...turn }: TurnStart): Promise<void> {
      leave()
      set({ ...turn, turn: newTurn, refusal: undefined })
      const init = {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': crypto.randomUUID() },
        body: JSON.stringify(body),
      }
      return read(
        turn.sessionId,
        (signal) => eventStream(path, { ...init, signal }),
        (refusal) => {
          if (live) set({ ...live, turn: lose(live.turn, messageOf(refusal)), refusal })
          onEnd(turn.sessionId)
        },
      )
    },
    /** Follows the running or latest turn of a session from its start, if the server has it. */
    follow(sessionId: string, after: number, question?: string): Promise<void> {
      leave()
      set({ sessionId, after, question, isNew: false, turn: newTurn, refusal: undefined })
      return read(
        sessionId,
        (signal) => again(sessionId, signal),
        () => set(undefined),
      )
    },
    /** Stops following; the turn itself goes on. */
    leave() {
      leave()
      set(undefined)
    },
  }
}
