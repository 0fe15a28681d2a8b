import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from 'react'
import { signals } from '../api/client.ts'
import { ErrorState } from '../components/states.tsx'
import {
  type Session,
  SessionContext,
  type SignedIn,
  sessionQuery,
  signOut,
  takeReturnAddress,
} from './session.ts'
import styles from './sign-in.module.css'

const SignIn = lazy(async () => ({ default: (await import('./sign-in.tsx')).SignIn }))
const OrganizationPicker = lazy(async () => ({
  default: (await import('./organization-picker.tsx')).OrganizationPicker,
}))

const storageKey = 'reprise.organization'

/** The organization that the platform's key looks at, in this tab. */
const useChosenOrganization = () => {
  const [organizationId, setOrganizationId] = useState(() => sessionStorage.getItem(storageKey))
  const choose = (id: string | null) => {
    if (id === null) sessionStorage.removeItem(storageKey)
    else sessionStorage.setItem(storageKey, id)
    setOrganizationId(id)
  }
  return { organizationId, choose }
}

/** Removes what was read with a session, so that whoever comes next sees nothing of it. */
const forget = (client: QueryClient) =>
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== sessionQuery.queryKey[0] })

const SignedInGate = ({ signedIn, children }: { signedIn: SignedIn; children: ReactNode }) => {
  const client = useQueryClient()
  const { organizationId: chosenId, choose } = useChosenOrganization()
  const organizationId = signedIn.organization_id ?? chosenId
  // biome-ignore lint/correctness/useExhaustiveDependencies: a choice is stable in its effect
  const session = useMemo<Session | undefined>(() => {
    if (organizationId === null) return undefined
    const scopes = new Set(signedIn.scopes)
    return {
      user: signedIn.user,
      organizationId,
      isPlatform: signedIn.organization_id === null,
      isManager: signedIn.user.role !== 'MEMBER',
      scopes: signedIn.scopes,
      can: (scope) => scopes.has(scope),
      leaveOrganization: () => {
        choose(null)
        forget(client)
      },
      signOut: async (everywhere) => {
        await signOut(everywhere)
        choose(null)
        forget(client)
        client.setQueryData(sessionQuery.queryKey, null)
      },
    }
  }, [signedIn, organizationId, client])
  if (!session)
    return (
      <Suspense>
        <OrganizationPicker onChoose={choose} />
      </Suspense>
    )
  return <SessionContext value={session}>{children}</SessionContext>
}

/**
 * Shows the application to whoever is signed in, and the form to everybody else. The address stays
 * as it is, so a deep link opens after the sign-in.
 */
export const SessionGate = ({ children }: { children: ReactNode }) => {
  const client = useQueryClient()
  const [hasEnded, setEnded] = useState(false)
  const { data, error, isPending, refetch } = useQuery(sessionQuery)
  useEffect(() => {
    signals.onSignedOut = () => {
      signals.csrfToken = undefined
      if (!client.getQueryData(sessionQuery.queryKey)) return
      setEnded(true)
      forget(client)
      client.setQueryData(sessionQuery.queryKey, null)
    }
  }, [client])
  useEffect(() => {
    const address = data ? takeReturnAddress() : undefined
    if (address) window.location.replace(address)
  }, [data])
  if (data) return <SignedInGate signedIn={data}>{children}</SignedInGate>
  if (data === null)
    return (
      <Suspense>
        <SignIn hasEnded={hasEnded} />
      </Suspense>
    )
  return (
    <main className={styles.page}>
      {isPending ? (
        <p role="status" className="visually-hidden">
          Loading
        </p>
      ) : (
        <ErrorState error={error} onRetry={() => void refetch()} />
      )}
    </main>
  )
}
