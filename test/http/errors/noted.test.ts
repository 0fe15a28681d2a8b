import { setTimeout as after } from 'node:timers/promises'
import t from 'tap'
import { Refusal } from '../../../src/domain/refusal.ts'
import { noteRefusedFrame } from '../../../src/http/errors/noted.ts'
import type { Client } from '../../support/client.ts'
import { startApp } from '../../support/server.ts'
import { connect } from '../../support/socket.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of an event
type Event = any

/** The refusals in an organization's history, once there are so many. */
const refusalsOf = async (admin: Client, organizationId: string, count: number) => {
  const url = `/api/admin/organizations/${organizationId}/audit/events?type=AccessRefused`
  for (;;) {
    const { events } = (await admin.ask('GET', url)).body
    if (events.length >= count) return events as Event[]
    await after(100)
  }
}

t.test('refused access is in the history of the organization, with who was refused', async (t) => {
  const { url, platform } = await startApp(t)
  const organization = await platform.organization({ credits: 0 })
  const other = await platform.organization()
  const { organizationId, ownerId } = organization
  await platform.ask('POST', `/users/${ownerId}/credits`, { amount: -1, reason: 'debt' })
  const admin = await organization.key({ scopes: ['admin:read'], type: 'user' })
  const body = { messages: [{ role: 'user', content: 'Hi' }] }

  const few = await organization.key({ scopes: ['agents:list'], rate_limit_minute: 4 })
  const member = await organization.member()
  t.equal((await few.chat({ ...body, on_behalf_of: member })).status, 403)
  t.equal((await few.chat(body)).status, 403)
  const theirs = `/api/admin/organizations/${other.organizationId}/audit/events`
  t.equal((await admin.ask('GET', theirs)).code, 'organization_access_denied')
  const elsewhere = { headers: { 'x-organization-id': other.organizationId } }
  t.equal((await few.ask('GET', '/api/external/agents', undefined, elsewhere)).status, 403)
  const poor = await organization.key()
  t.equal((await poor.chat(body, { headers: { 'x-request-id': 'poor-1' } })).status, 402)
  for (let n = 0; n < 4; n++) await few.ask('GET', '/api/external/agents')
  t.equal((await few.ask('GET', '/api/external/agents')).status, 429)
  const ws = await connect(url, { 'x-api-key': few.key })
  ws.send({ type: 'message', content: 'Hi', on_behalf_of: member })
  await ws.until('error')
  ws.ws.close()

  const events = await refusalsOf(admin, organizationId, 6)
  t.strictSame(
    events.map(({ data }) => [data.code, data.method, data.route, data.askedFor]).sort(),
    [
      ['insufficient_credits', 'POST', '/api/external/v1/chat/completions', undefined],
      ['insufficient_scopes', 'POST', '/api/external/v1/chat/completions', undefined],
      [
        'organization_access_denied',
        'GET',
        '/api/admin/organizations/:organization_id/audit/events',
        undefined,
      ],
      ['organization_access_denied', 'GET', '/api/external/agents', undefined],
      ['rate_limit_exceeded', 'GET', '/api/external/agents', undefined],
      ['rate_limit_exceeded', 'WS', '/ws/chat', member],
    ],
  )
  for (const { metadata } of events)
    t.match(metadata, {
      organization_id: organizationId,
      actor: { key_id: String, user_id: ownerId },
      request_id: String,
    })
  t.ok(events.some(({ metadata }) => metadata.request_id === 'poor-1'))
  const others = await platform.ask('GET', `/organizations/${other.organizationId}/audit/events`)
  t.notMatch(JSON.stringify(others), /AccessRefused/, 'nobody writes into the history of others')
})

t.test('refusals without a valid key are not recorded', async (t) => {
  const { as, platform } = await startApp(t)
  const { organizationId, key } = await platform.organization()
  t.equal((await as('svc_live_unknown').ask('GET', '/api/external/agents')).status, 401)
  await (await key()).ask('DELETE', `/api/admin/organizations/${organizationId}`)
  const { events } = await platform.ask('GET', `/organizations/${organizationId}/audit/events`)
  t.notMatch(JSON.stringify(events), /AccessRefused/)
})

t.test('only refusals of access are told, with the status that the client was given', async (t) => {
  const noted: unknown[] = []
  const clock = { now: () => new Date(0), monotonic: () => 0, id: () => 'id' }
  const counted: string[] = []
  const countRefusal = (code: string) => void counted.push(code)
  const refusing = { refused: (refusal: object) => void noted.push(refusal), countRefusal, clock }
  const who = { organizationId: 'organization-1', keyId: 'key-1', userId: 'user-1' }
  for (const code of ['invalid_api_key', 'session_not_found', 'internal_error'] as const)
    noteRefusedFrame(refusing, new Refusal(code), who, {})
  for (const code of ['insufficient_credits', 'no_subscription', 'rate_limit_exceeded'] as const)
    noteRefusedFrame(refusing, new Refusal(code), who, {})
  t.same(counted, [
    ...['invalid_api_key', 'session_not_found', 'internal_error'],
    ...['insufficient_credits', 'no_subscription', 'rate_limit_exceeded'],
  ])
  t.match(noted, [
    { code: 'insufficient_credits', status: 402 },
    { code: 'no_subscription', status: 403 },
    { code: 'rate_limit_exceeded', status: 429 },
  ])
  t.equal(noted.length, 3)
})
