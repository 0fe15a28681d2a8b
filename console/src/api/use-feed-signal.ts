import { useEffect, useRef } from 'react'
import { feedPath, followFeed } from './follow-feed.ts'

/** Changes that follow each other closely cause one call. */
const pauseMs = 1_000

/**
 * Calls a function after changes of a read model, at most once a second: for lists and charts that
 * are then read again.
 */
export const useFeedSignal = (
  organizationId: string,
  readModel: string,
  onChange: () => void,
  isEnabled = true,
): void => {
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (!isEnabled) return undefined
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const call = () => {
      timer = undefined
      latest.current()
    }
    const signalChange = () => {
      timer ??= setTimeout(call, pauseMs)
    }
    void followFeed(feedPath(organizationId, readModel), {
      signal: abort.signal,
      onChange: signalChange,
    })
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [organizationId, readModel, isEnabled])
}
