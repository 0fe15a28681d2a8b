import { client } from './client.ts'

export const superAdminKey = 'platform-key-of-at-least-32-characters'

type Ask = { plan?: 'basic_monthly' | 'pro_monthly' | null; credits?: number }
type AskKey = {
  scopes?: readonly string[]
  type?: 'organization' | 'user'
  user_id?: string
  rate_limit_minute?: number
  rate_limit_hour?: number
}

let lastNumber = 0

const fine = ({ status, body }: { status: number; body: unknown }) => {
  if (status >= 300) throw new Error(`the admin API answered ${status}: ${JSON.stringify(body)}`)
}

/** What operators do on a running server, through the admin API. */
export const platform = (url: string) => {
  const admin = client(url, superAdminKey)
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await admin.ask(method, `/api/admin${path}`, body)
    fine(reply)
    return reply.body
  }

  /** In credits: a user's balance, and the balance less reservations. */
  const balanceOf = async (userId: string) => {
    const reply = await ask('POST', `/users/${userId}/credits`, { amount: 0, reason: 'look' })
    return { balance: reply.credit_balance, effective: reply.effective_balance }
  }

  /** An organization's stored events, the oldest first: all, or those of a type. */
  const events = async (organizationId: string, type?: string) => {
    const filter = type === undefined ? '' : `&type=${type}`
    const path = `/organizations/${organizationId}/audit/events?limit=500${filter}`
    return (await ask('GET', path)).events
  }

  return {
    ask,
    balanceOf,
    events,
    /** An organization with an owner of its own, on the Pro plan with 100 credits. */
    async organization({ plan = 'pro_monthly', credits = 100 }: Ask = {}) {
      const n = ++lastNumber
      const organization = await ask('POST', '/organizations', {
        name: `Organization ${n}`,
        owner: { email: `owner-${n}@example.com`, name: 'Olga' },
        plan,
        credits,
      })
      const { organization_id, owner_user_id } = organization
      const at = `/organizations/${organization_id}`
      return {
        organizationId: organization_id as string,
        ownerId: owner_user_id as string,
        balance: () => balanceOf(owner_user_id),
        /** A key, backed by the owner unless told otherwise. */
        async key(options: AskKey = {}) {
          const { key } = await ask('POST', `${at}/api-keys`, {
            name: 'Test',
            rate_limit_minute: 1_000,
            ...options,
          })
          return client(url, key)
        },
        /** An agent that is none of the orchestrator's own. */
        async agent(settings: { name: string; [setting: string]: unknown }): Promise<string> {
          return (await ask('POST', `${at}/agents`, settings)).agent_id
        },
        /** The id of the orchestrator. */
        async orchestrator(): Promise<string> {
          return (await ask('GET', `${at}/agents`)).agents[0].agent_id
        },
        /** A member who has joined, or (pending) one who is only invited. */
        async member({ pending = false }: { pending?: boolean } = {}): Promise<string> {
          const email = `member-${++lastNumber}@example.com`
          const { user_id } = await ask('POST', `${at}/members`, { email })
          if (!pending)
            await ask('POST', '/identity/logins', {
              email,
              provider: 'test',
              subject: email,
              accept: [{ organization_id }],
            })
          return user_id
        },
      }
    },
  }
}

export type Platform = ReturnType<typeof platform>
export type Organization = Awaited<ReturnType<ReturnType<typeof platform>['organization']>>
