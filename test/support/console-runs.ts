import type { Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { client, user } from './client.ts'
import { openConsole } from './console-screens.ts'
import { startChat } from './server.ts'
import { json, web } from './web.ts'

const markdown = `The order **A-1** is on its way.

| Item | Pieces |
|---|---|
| Lamp | 2 |
| Chair | 4 |

1. Packed on Monday
2. Sent on Tuesday

<script>alert(1)</script> [tracking](javascript:alert(1))`

const orders = {
  type: 'api_call',
  name: 'find_order',
  description: 'Finds an order by its number',
  method: 'GET',
  parameters: { type: 'object', properties: { order: { type: 'string' } } },
}

const call = { name: 'find_order', arguments: { order: 'A-1' } }

const runOf = ({ body }: { body: { id: string } }) => body.id.replace('chatcmpl-', '')

/**
 * The built console on a server with a scripted model, whose agent Shop has a tool of a web server;
 * and a browser. Runs are made as customers make them.
 */
export const startRuns = async (t: Test) => {
  const site = await web(t, ({ url }, response) =>
    url?.includes('broken')
      ? json(response, { error: 'The warehouse is closed' }, 500)
      : json(response, { order: 'A-1', state: 'sent', items: ['Lamp', 'Chair'] }),
  )
  const env = { API_CALL_ALLOW_HOSTS: site.host }
  const chat = await startChat(t, { text: 'Done.' }, undefined, env)
  const { organization, provider, server } = chat
  const shop = await organization.agent({
    name: 'Shop',
    description: 'Answers questions about orders',
    instruction: 'Be short, and name the order.',
    tools: [
      { ...orders, url: `${site.url}/orders` },
      { ...orders, name: 'check_stock', url: `${site.url}/broken` },
    ],
  })
  const path = `/organizations/${organization.organizationId}/api-keys`
  const newKey = async (settings: object = {}): Promise<string> =>
    (await server.platform.ask('POST', path, { name: 'Console', ...settings })).key
  const key = await newKey({ scopes, rate_limit_minute: 1_000 })
  const chatting = client(server.url, key)
  const ask = async (text: string, session_id: string, model = shop) =>
    runOf(await chatting.chat({ model, session_id, messages: user(text) }))
  const runs = `/organizations/${organization.organizationId}/runs`
  const page = await openConsole(t, { url: server.url, key })
  return {
    ...chat,
    key,
    newKey,
    as: chatting,
    shop,
    ask,
    /** A turn with a call of a tool, and an answer in Markdown. */
    async completedRun(session_id = 'orders', text = 'Where is my order A-1?'): Promise<string> {
      provider.next({ text: 'Let me look. ', calls: [call] }, { text: markdown })
      return ask(text, session_id)
    },
    /** A turn whose tool fails, and whose model then refuses its key. */
    async failed(session_id = 'stock'): Promise<string> {
      provider.next(
        { calls: [{ name: 'check_stock', arguments: { order: 'A-1' } }] },
        { status: 401 },
      )
      await chatting.chat({ model: shop, session_id, messages: user('Is the lamp in stock?') })
      const query = `${runs}?session_id=${session_id}&status=failed`
      return (await server.platform.ask('GET', query)).runs[0].run_id
    },
    page,
  }
}
