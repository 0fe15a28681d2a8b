import type { Test } from 'tap'
import type { Client } from './client.ts'
import { eventually } from './eventually.ts'
import { generationDouble } from './generation-double.ts'
import type { Organization } from './platform.ts'
import { startApp } from './server.ts'

const scopes = ['agents:invoke', 'content:read', 'content:retry']

/** What one key does with the content that an agent of its organization makes. */
export const painterOf = (key: Client, agent: string) => {
  const at = (path: string) => `/api/external/content${path}`
  const get = async (id: string, query = '') => (await key.ask('GET', at(`/${id}${query}`))).body
  /** An item once it is one of these. */
  const when = (id: string, ...statuses: string[]) =>
    eventually(async () => {
      const item = await get(id)
      return statuses.includes(item.status) ? item : undefined
    })
  return {
    ask: (method: string, path: string) => key.ask(method, at(path)),
    get,
    list: async (query = '') => (await key.ask('GET', at(query))).body,
    retry: (id: string) => key.ask('POST', at(`/${id}/retry`)),
    /** Asks the agent for something, and answers the id that it will be found under. */
    async draw(message = 'Draw a picture of a fox', more: object = {}): Promise<string> {
      const path = `/api/external/agents/${agent}/completions`
      const { status, body } = await key.ask('POST', path, { message, ...more })
      const id = /content (?<id>[0-9a-f-]{36})/.exec(JSON.stringify(body))?.groups?.id
      if (!id) throw new Error(`nothing is made: ${status} ${JSON.stringify(body)}`)
      return id
    },
    when,
    over: (id: string) => when(id, 'completed', 'failed'),
  }
}

/** A painter of an organization. */
export const hirePainter = async (organization: Organization) => {
  const agent = await organization.agent({ name: 'Painter', tools: ['generate_content'] })
  const key = await organization.key({ scopes })
  return { agent, key, ...painterOf(key, agent) }
}

type Options = Parameters<typeof startApp>[2]

/** The application over a generation provider on loopback, with a painter. */
export const studio = async (t: Test, env: Record<string, string> = {}, options: Options = {}) => {
  const provider = await generationDouble()
  t.teardown(provider.close)
  const { generation, ...more } = options
  const server = await startApp(
    t,
    { GENERATION_BASE_URL: provider.url, GENERATION_API_KEY: 'provider-key', ...env },
    { generation: { pollMs: 10, timeoutMs: 300, ...generation }, ...more },
  )
  const organization = await server.platform.organization()
  return { provider, server, organization, ...(await hirePainter(organization)) }
}
