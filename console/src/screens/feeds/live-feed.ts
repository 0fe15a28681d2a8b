import { useEffect, useRef, useState } from 'react'
import { type FeedChange, type FeedState, followFeed } from '../../api/follow-feed.ts'

export type Change = FeedChange & {
  /** In the order of arrival; a document may change twice at one position. */
  number: number
  at: string
}

/** The newest changes that are shown; older ones leave the page. */
const mostChanges = 200

export type LiveFeed = {
  state: FeedState | 'paused'
  error: unknown
  /** The newest first. */
  changes: readonly Change[]
  /** Of all changes since the page was opened. */
  total: number
}

const start: LiveFeed = { state: 'connecting', error: undefined, changes: [], total: 0 }

/** Follows a feed from now on. Paused, it is disconnected, and later resumes where it was. */
export const useLiveFeed = (path: string, isPaused: boolean): LiveFeed => {
  const [feed, setFeed] = useState(start)
  const lastId = useRef<string | undefined>(undefined)
  useEffect(() => {
    if (isPaused) {
      setFeed((feed) => ({ ...feed, state: 'paused' }))
      return undefined
    }
    const abort = new AbortController()
    void followFeed(path, {
      signal: abort.signal,
      lastId: lastId.current,
      onState: (state, error) => setFeed((feed) => ({ ...feed, state, error })),
      onChange: (change, id) => {
        lastId.current = id
        const at = new Date().toISOString()
        setFeed((feed) => {
          const number = feed.total + 1
          const changes = [{ ...change, number, at }, ...feed.changes].slice(0, mostChanges)
          return { ...feed, changes, total: number }
        })
      },
    })
    return () => abort.abort()
  }, [path, isPaused])
  return feed
}
