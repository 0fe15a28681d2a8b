import { setTimeout as after } from 'node:timers/promises'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import type { Client } from './client.ts'
import type { Organization, platform as platformOf } from './platform.ts'

type Platform = ReturnType<typeof platformOf>
type Body = Awaited<ReturnType<Client['ask']>>['body']

const wanted = ['image', 'video']

/**
 * Something of everything that an organization and its partner can do, through the API; the keys it
 * was done with.
 */
export const workload = async (platform: Platform, existing?: Organization) => {
  const organization = existing ?? (await platform.organization())
  const { organizationId, ownerId } = organization
  const at = `/organizations/${organizationId}`
  const key = await organization.key({ scopes })
  const own = await organization.key({ scopes, type: 'user' })
  const ok = async (
    who: Client,
    method: string,
    path: string,
    body?: object,
    allowed: readonly number[] = [],
  ): Promise<Body> => {
    const reply = await who.ask(method, path, body)
    if (reply.status >= 300 && !allowed.includes(reply.status))
      throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const until = async (holds: () => Promise<boolean>) => {
    while (!(await holds())) await after(50)
  }

  await platform.ask('PATCH', at, { name: 'Renamed' })
  const member = await organization.member()
  await organization.member({ pending: true })
  await platform.ask('PATCH', `${at}/members/${member}`, { role: 'OWNER' })
  await platform.ask('PATCH', `${at}/members/${member}`, { role: 'MEMBER' })
  await platform.ask('DELETE', `${at}/members/${member}`)
  const elsewhere = await platform.organization()
  const invited = await elsewhere.key({ type: 'user' })
  const theirs = await platform.ask('GET', `/organizations/${elsewhere.organizationId}/members`)
  const membership = `/api/me/memberships/${organizationId}`
  for (const answer of ['decline', 'accept']) {
    await platform.ask('POST', `${at}/members`, { email: theirs.members[0].email })
    await ok(invited, 'POST', `${membership}/${answer}`, { allow_backing: true })
  }
  await platform.ask('PUT', `/users/${ownerId}/subscription`, { plan: 'pro_monthly' })
  const keys = await platform.ask('GET', `${at}/api-keys`)
  await platform.ask('PATCH', `${at}/api-keys/${keys.api_keys[0].key_id}`, { name: 'Named' })
  const spare = await ok(own, 'POST', '/api/me/api-keys', { name: 'Spare' })
  await ok(own, 'DELETE', `/api/me/api-keys/${spare.key_id}`)

  const store = await ok(key, 'POST', '/api/external/rag/datastores', { display_name: 'Papers' })
  const datastore_id = store.datastore_id
  const tools = ['generate_content', 'remember', 'recall']
  const agentId = await organization.agent({ name: 'Studio', tools })
  const shop = {
    type: 'api_call',
    name: 'get_order',
    description: 'Reads an order',
    method: 'GET',
    url: 'https://shop.example/orders',
    headers: { Authorization: 'Bearer {{credential:SHOP}}' },
    parameters: { type: 'object', properties: {} },
  }
  const buyer = await organization.agent({ name: 'Buyer', tools: [shop] })
  await ok(key, 'PATCH', `/api/admin${at}/agents/${buyer}`, { description: 'Buys' })
  const deleted = await organization.agent({ name: 'Gone' })
  await platform.ask('DELETE', `${at}/agents/${deleted}`)

  const files = ['one.txt', 'two.txt'].map((filename) => ({
    filename,
    content: Buffer.from(`What ${filename} says of herons.`).toString('base64'),
    content_type: 'text/plain',
  }))
  const filesAt = (id: string) => `/api/external/rag/datastores/${id}/files`
  const uploaded = async (datastore_id: string) => {
    await ok(key, 'POST', '/api/external/rag/upload', { datastore_id, files })
    await until(async () => {
      const { files } = await ok(key, 'GET', filesAt(datastore_id))
      return files.every(({ status }: { status: string }) => status === 'completed')
    })
    await ok(key, 'DELETE', `${filesAt(datastore_id)}/one.txt`)
  }
  await uploaded(datastore_id)
  const lasting = { display_name: 'Lasting' }
  await uploaded((await ok(key, 'POST', '/api/external/rag/datastores', lasting)).datastore_id)

  const completions = `/api/external/agents/${agentId}/completions`
  for (const message of ['remember that herons fish', ...wanted.map((kind) => `Draw a ${kind}`)])
    await ok(key, 'POST', completions, { message, messages: [{ role: 'user', content: message }] })
  const careful = { name: 'Careful', tools: [{ type: 'remember', requires_approval: true }] }
  const completion = await ok(
    key,
    'POST',
    `/api/external/agents/${await organization.agent(careful)}/completions`,
    { message: 'remember that herons wait', session_id: 'a-1' },
  )
  const [{ approval_id, arguments_digest }] = completion.pending_approvals
  const decision = { decision: 'approve', arguments_digest, reason: 'Fine' }
  await ok(key, 'POST', `/api/external/approvals/${approval_id}`, decision)
  await until(async () => {
    const { is_processing, state } = await ok(key, 'GET', '/api/external/sessions/a-1/status')
    return !is_processing && !state
  })
  const failed = async () => (await ok(key, 'GET', '/api/external/content?status=failed')).items
  await until(async () => (await failed()).length === 1)
  const [{ id: video }] = await failed()
  await ok(key, 'POST', `/api/external/content/${video}/retry`)
  await until(async () => (await failed()).length === 1)
  await key.chat({ messages: [{ role: 'user', content: 'Hello' }], session_id: 's-1' })
  await key.chat({
    messages: [{ role: 'user', content: 'Hello' }],
    session_id: 's-1',
    session_hidden: true,
  })

  await ok(key, 'POST', '/api/external/sessions/s-1/fork', { session_id: 's-1-fork' })

  const offered = [{ type: 'function', function: { name: 'get_weather' } }]
  const ask = (content: string) =>
    ok(key, 'POST', '/api/external/v1/chat/completions', {
      messages: [{ role: 'user', content }],
      session_id: 's-2',
      tools: offered,
    })
  const called = await ask('get_weather city=Paris')
  const [{ id: tool_call_id }] = called.choices[0].message.tool_calls
  await ok(key, 'POST', '/api/external/v1/chat/completions', {
    messages: [{ role: 'tool', tool_call_id, content: '18 degrees' }],
    session_id: 's-2',
    tools: offered,
  })
  await ask('get_weather city=Rome')
  await ask('Never mind')

  const users = '/api/external/management/users'
  const guest = await ok(key, 'POST', users, {
    email: `guest-${organizationId}@partner.example`,
    organization_id: organizationId,
  })
  const guestAt = `${users}/${guest.user_id}`
  const chat = { messages: [{ role: 'user', content: 'Hi' }], on_behalf_of: guest.user_id }
  await key.chat({ ...chat, session_id: 'g-1' })
  await key.chat({ ...chat, session_id: 'g-2' })
  await ok(key, 'DELETE', `${guestAt}/sessions/g-1`)
  for (const value of ['secret', 'other'])
    await ok(key, 'PUT', `${guestAt}/credentials/SHOP`, { value })
  await ok(key, 'DELETE', `${guestAt}/credentials/SHOP`)
  const link = { agent_id: buyer, return_url: 'https://partner.example/back' }
  await ok(key, 'POST', `${guestAt}/connect-links`, link)
  await ok(key, 'DELETE', `${guestAt}/connect-links`)
  await ok(key, 'POST', `${guestAt}/connect-links`, link)
  await ok(key, 'PUT', `${guestAt}/credentials/SHOP`, { value: 'another' })
  await ok(key, 'DELETE', `${guestAt}/memories`)
  await ok(key, 'DELETE', `${guestAt}/personal-data`)
  await ok(own, 'PUT', '/api/external/me/credentials/MINE', { value: 'secret' })

  const weak = await organization.key({ scopes: ['agents:list'] })
  for (let n = 0; n < 3; n++) await weak.chat({ messages: [] })
  await ok(key, 'DELETE', `/api/external/rag/datastores/${datastore_id}?force=true`)
  return { ...organization, keys: { all: key, own } }
}
