import type { Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import type { Client } from '../support/client.ts'
import { library } from '../support/library.ts'
import { startApp } from '../support/server.ts'

export const unknownId = '0198c0de-0000-7000-8000-000000000001'
export const api = (path: string): string => `/api/external${path}`

/** Generated items once none is under way; half a minute at most. */
export const settledContent = async ({ ask }: Client) => {
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    const { items } = (await ask('GET', api('/content'))).body
    const open = ['pending', 'processing']
    if (items.length > 0 && items.every(({ status }: { status: string }) => !open.includes(status)))
      return items
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('nothing was generated within half a minute')
}

type Options = Parameters<typeof startApp>[2]

/** A server with one organization, and a key of it that may do everything. */
export const scene = async (t: Test, options?: Options, env: Record<string, string> = {}) => {
  const server = await startApp(t, env, options)
  const organization = await server.platform.organization()
  const wide = { scopes, rate_limit_minute: 1_000, rate_limit_hour: 100_000 }
  const key = await organization.key(wide)
  return {
    server,
    organization,
    key,
    ask: key.ask,
    rag: library(key),
    /** A key with these scopes and no other. */
    only: (...some: string[]) => organization.key({ ...wide, scopes: some }),
    /** An item that the offline provider makes (an image), or cannot make (a video). */
    async generated(what: 'image' | 'video') {
      const agent_id = await organization.agent({ name: 'Painter', tools: ['generate_content'] })
      await key.ask('POST', api(`/agents/${agent_id}/completions`), { message: `Draw a ${what}` })
      const [item] = await settledContent(key)
      return item
    },
    async provisioned(email: string): Promise<string> {
      const organization_id = organization.organizationId
      const reply = await key.ask('POST', api('/management/users'), { email, organization_id })
      return reply.body.user_id
    },
  }
}
