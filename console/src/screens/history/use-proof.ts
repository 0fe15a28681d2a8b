import { useCallback, useEffect, useRef, useState } from 'react'
import { logVerifier, organizationLog } from '../../proof/log-verifier.ts'
import { badgeOf, idleBadge, type ProofBadge, verifyingBadge } from '../../proof/proof-badge.ts'
import type { ListedEvent } from '../../proof/stored-event.ts'

const memoryOf = (): Storage | undefined => {
  try {
    return window.localStorage
  } catch {
    return undefined
  }
}

const verifierOf = (organizationId: string, key?: string) =>
  logVerifier({
    ...organizationLog(organizationId),
    fetch: (url, init) => fetch(url, init),
    memory: memoryOf(),
    key,
  })

/** A verification of the log that starts by itself, and again with `verify`. */
export const useLogProof = (organizationId: string) => {
  const [badge, setBadge] = useState<ProofBadge>(idleBadge)
  const abort = useRef<AbortController | undefined>(undefined)
  const verify = useCallback(
    async (key?: string) => {
      abort.current?.abort()
      const current = new AbortController()
      abort.current = current
      setBadge(verifyingBadge)
      const { signal } = current
      const result = await verifierOf(organizationId, key).verifyLog({ signal })
      if (!signal.aborted) setBadge(badgeOf(result))
    },
    [organizationId],
  )
  useEffect(() => {
    void verify()
    return () => abort.current?.abort()
  }, [verify])
  const forget = () => {
    abort.current?.abort()
    verifierOf(organizationId).forget()
    setBadge(idleBadge)
  }
  return { badge, verify, forget }
}

/** The verification of one event, which starts with `verify`. */
export const useEventProof = (organizationId: string, event: ListedEvent) => {
  const [badge, setBadge] = useState<ProofBadge>()
  const abort = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => abort.current?.abort(), [])
  const verify = async () => {
    abort.current?.abort()
    const current = new AbortController()
    abort.current = current
    setBadge(verifyingBadge)
    const { signal } = current
    const result = await verifierOf(organizationId).verifyEvent(event, { signal })
    if (!signal.aborted) setBadge(badgeOf(result))
  }
  return { badge, verify }
}
