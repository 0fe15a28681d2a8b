import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { client } from './client.ts'
import { settled, startConsole } from './console-screens.ts'
import { superAdminKey } from './platform.ts'
import { painterOf } from './studio.ts'

/** 200 characters, the most that a name has, without a place to break. */
export const longName = 'Long'.repeat(50)
/** 200 characters from right to left. */
export const rightToLeftName = 'اسم طويل '.repeat(23).slice(0, 199).trim().padEnd(200, 'ا')

export type Stop = { name: string; path: string; heading: string | RegExp }

/** A server with something on every screen, and the way to each of them. */
export const startTour = async (t: Test) => {
  const server = await startConsole(t)
  const { key, organizationId, url } = server
  const api = client(url, key)
  const at = `/api/admin/organizations/${organizationId}`
  const create = async (path: string, body: object) => {
    const { status, body: answer } = await api.ask('POST', path, body)
    if (status >= 300) throw new Error(`${path} was answered ${status}: ${JSON.stringify(answer)}`)
    return answer
  }
  const { agents } = (await api.ask('GET', `${at}/agents`)).body
  const studio = agents.find(({ name }: { name: string }) => name === 'Studio')
  const careful = await create(`${at}/agents`, {
    name: 'Careful',
    tools: [{ type: 'remember', requires_approval: true }],
  })
  const say = (session_id: string, content: string, model?: string) =>
    api.chat({ session_id, messages: [{ role: 'user', content }], ...(model ? { model } : {}) })
  const answer = await say('tour', 'How many days of leave are there?')
  await say('waiting', 'Remember that my train leaves at 9:14', careful.agent_id)
  const painter = painterOf(api, studio.agent_id)
  const item = await painter.draw('Draw a picture of a fox')
  await painter.over(item)
  await create(`${at}/members`, { email: 'ann@example.com', name: 'Ann' })
  await create('/api/external/management/users', {
    email: 'bea@example.com',
    name: 'Bea',
    organization_id: organizationId,
  })
  const { datastores } = (await api.ask('GET', '/api/external/rag/datastores')).body
  const runId = answer.body.id.replace('chatcmpl-', '')
  const stops: Stop[] = [
    { name: 'overview', path: '/', heading: 'Overview' },
    { name: 'runs', path: '/runs', heading: 'Runs' },
    { name: 'run', path: `/runs/${runId}`, heading: /^(?!Loading$)/ },
    { name: 'playground', path: '/playground?session=tour', heading: 'Playground' },
    {
      name: 'playground-agent',
      path: `/playground?agent=${careful.agent_id}`,
      heading: 'Playground',
    },
    { name: 'agents', path: '/agents', heading: 'Agents' },
    { name: 'agent', path: `/agents/${studio.agent_id}`, heading: /^(?!Loading$)/ },
    { name: 'knowledge', path: '/knowledge', heading: 'Knowledge' },
    {
      name: 'datastore',
      path: `/knowledge/${datastores[0].datastore_id}`,
      heading: /^(?!Loading$)/,
    },
    { name: 'content', path: '/content', heading: 'Content' },
    { name: 'content-item', path: `/content/${item}`, heading: /^(?!Loading$)/ },
    { name: 'approvals', path: '/approvals?status=all', heading: 'Approvals' },
    { name: 'people', path: '/people', heading: 'People and keys' },
    { name: 'people-users', path: '/people?tab=users', heading: 'People and keys' },
    { name: 'people-keys', path: '/people?tab=keys', heading: 'People and keys' },
    { name: 'people-credits', path: '/people?tab=credits', heading: 'People and keys' },
    { name: 'charge', path: `/charges/${runId}`, heading: /^(?!Loading$)/ },
    { name: 'history', path: '/history', heading: 'History' },
    { name: 'history-states', path: '/history?tab=states&view=agents', heading: 'History' },
    { name: 'feeds', path: '/feeds', heading: 'Feeds' },
    { name: 'feed', path: '/feeds/sessions', heading: /^(?!Loading$)/ },
  ]
  /** Gives one name to all that is named in Latin, and another to the rest. */
  const rename = async (name: string, other: string) => {
    const changed = async (path: string, body: object) => {
      const { status, body: answer } = await api.ask('PATCH', path, body)
      if (status >= 300) throw new Error(`${path}: ${status} ${JSON.stringify(answer)}`)
    }
    await changed(at, { name })
    await changed(`${at}/agents/${careful.agent_id}`, { name: other, description: name })
    await changed(`${at}/agents/${studio.agent_id}`, { name, description: other })
    await create(`${at}/members`, { email: 'carl@example.com', name })
    await create(`${at}/members`, { email: 'dana@example.com', name: other })
    await create('/api/external/management/users', {
      email: 'eve@example.com',
      name,
      organization_id: organizationId,
    })
    await create(`${at}/api-keys`, { name })
    await create(`${at}/api-keys`, { name: other })
    await create('/api/external/rag/datastores', { display_name: name })
    await create('/api/external/rag/datastores', { display_name: other })
  }
  /** Opens a screen, and waits for its content. */
  const arrive = async (page: Page, { path, heading }: Stop): Promise<void> => {
    await page.goto(`${url}/console${path}`)
    await page.getByRole('heading', { level: 1, name: heading }).waitFor()
    await settled(page)
  }
  const { members } = (await api.ask('GET', `${at}/members`)).body
  const owner = members.find(({ role }: { role: string }) => role === 'OWNER')
  /** A page with a key of its own: a tour has more requests than one key in a minute. */
  const page = async (options?: BrowserContextOptions) => {
    const { body } = await client(url, superAdminKey).ask('POST', `${at}/api-keys`, {
      name: 'Tour',
      type: 'user',
      user_id: owner.user_id,
      scopes,
      rate_limit_minute: 1_000,
    })
    return (await server.page('/', options, body.key)).page
  }
  return { page, rename, arrive, stops }
}
