import { queryOptions } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import { z } from 'zod'
import { send, signals } from '../api/client.ts'
import { ApiError } from '../api/problem.ts'

const user = z.object({
  user_id: z.string().nullable(),
  email: z.string().nullable(),
  name: z.string().nullable(),
  role: z.enum(['OWNER', 'ADMIN', 'MEMBER', 'SUPER_ADMIN']),
})

const sessionAnswer = z.object({
  csrf_token: z.string(),
  user,
  organization_id: z.string().nullable(),
  scopes: z.array(z.string()),
  expires_at: z.string(),
})

export type SignedIn = z.infer<typeof sessionAnswer>

const path = '/console/session'

const received = async (response: Response): Promise<SignedIn> => {
  const session = sessionAnswer.parse(await response.json())
  signals.csrfToken = session.csrf_token
  return session
}

/** The session of this browser; null: nobody is signed in. */
const getSession = async (): Promise<SignedIn | null> => {
  try {
    return await received(await send(path))
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null
    throw error
  }
}

export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: getSession,
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})

const signInOptions = z.object({ openid: z.boolean() })

/** Which ways to sign in the server offers beside an API key. */
export const signInOptionsQuery = queryOptions({
  queryKey: ['sign-in-options'],
  queryFn: async () => signInOptions.parse(await (await send(`${path}/options`)).json()),
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
})

const returnKey = 'reprise.return'

/** Leaves for the identity provider, to come back to the present address. */
export const leaveForOpenId = (): void => {
  const { pathname, search } = window.location
  sessionStorage.setItem(returnKey, `${pathname}${search}`)
  window.location.assign('/console/openid')
}

/** The address from which somebody left for the identity provider; once. */
export const takeReturnAddress = (): string | undefined => {
  const address = sessionStorage.getItem(returnKey)
  sessionStorage.removeItem(returnKey)
  const { pathname, search } = window.location
  if (!address?.startsWith('/console/') || address === `${pathname}${search}`) return undefined
  return address
}

/** @throws ApiError */
export const signIn = async (apiKey: string): Promise<SignedIn> =>
  received(
    await send(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: apiKey }),
    }),
  )

/** Ends this session, or all of its user. @throws ApiError */
export const signOut = async (everywhere = false): Promise<void> => {
  await send(everywhere ? '/console/sessions' : path, { method: 'DELETE' })
  signals.csrfToken = undefined
}

export type Session = {
  user: SignedIn['user']
  /** The organization of every request. */
  organizationId: string
  /** Signed in with the platform's key, which chooses an organization here. */
  isPlatform: boolean
  /** Owners, admins and the platform see what members may not. */
  isManager: boolean
  scopes: readonly string[]
  can: (scope: string) => boolean
  /** Back to the choice of an organization; for the platform. */
  leaveOrganization: () => void
  signOut: (everywhere?: boolean) => Promise<void>
}

export const SessionContext = createContext<Session | undefined>(undefined)

/** The session of whoever is signed in; inside the session gate. */
export const useSession = (): Session => {
  const session = useContext(SessionContext)
  if (!session) throw new Error('there is no session outside the session gate')
  return session
}
