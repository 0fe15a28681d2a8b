import t, { type Test } from 'tap'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { bodyOf } from '../../src/http/errors/bodies.ts'
import type { Access } from '../../src/security/access.ts'
import { requireSubscription } from '../../src/turns/begin/require-subscription.ts'
import { type Client, user } from '../support/client.ts'
import { encodedFile } from '../support/library.ts'
import { movableClock, startChat } from '../support/server.ts'
import { covering } from './covering.ts'
import { api, scene, settledContent, unknownId } from './scene.ts'

type Answer = Awaited<ReturnType<Client['ask']>>

const messages = user('Hi')
const required_plans = ['basic_monthly', 'pro_monthly']
const invalid = 'invalid_request_error'

/** Status, code and body are these. */
const refused = (t: Test, answer: Answer, status: number, code: string, body: object) =>
  t.match({ ...answer, headers: undefined }, { status, code, body }, `${status} ${code}`)

const inError = (code: string, type: string | RegExp = invalid, more = {}) => ({
  error: { message: String, type, code, ...more },
})
const inRag = (code: string, type: string, more = {}) => ({
  detail: { error: { message: String, type, code, ...more } },
})

/** A DataStore that does not have what is uploaded to it. */
const refusedUpload = async (t: Test, file: object, code: string) => {
  const { rag } = await scene(t)
  const datastore_id = await rag.datastore()
  const answer = await rag.ask('POST', '/upload', { datastore_id, files: [file] })
  refused(t, answer, 400, code, inRag(code, 'validation_error'))
  t.match((await rag.ask('GET', '/uploads')).body, { total: 0 }, 'nothing is stored')
}

/** What a provider that does this makes of a chat. */
const failing = async (t: Test, reply: object, times: number, status: number, code: string) => {
  const transport = { connectMs: 300, firstMs: 300, idleMs: 300, backOffMs: 1 }
  const { key, provider } = await startChat(t, undefined, { transport })
  provider.next(...Array(times).fill(reply))
  const answer = await key.chat({ messages, session_id: 'mine' })
  refused(t, answer, status, code, inError(code, 'server_error'))
  t.equal((await key.chat({ messages, session_id: 'mine' })).status, 200, 'the session goes on')
}

covering(t, 'errors', {
  async 'error missing_api_key 401'(t) {
    const { server } = await scene(t)
    const none = await server.as('').sessions()
    refused(t, none, 401, 'missing_api_key', {
      detail: /X-API-Key or Authorization: Bearer header/,
    })
    t.equal(none.headers.get('www-authenticate'), 'ApiKey')
  },

  async 'error invalid_api_key 401'(t) {
    const clock = movableClock()
    const { server, organization } = await scene(t, { clock })
    const keys = `/organizations/${organization.organizationId}/api-keys`
    const make = (more = {}) => server.platform.ask('POST', keys, { name: 'Test', ...more })
    const revoked = await make()
    await server.platform.ask('DELETE', `${keys}/${revoked.key_id}`)
    const expires_at = new Date(clock.now().getTime() + 60_000).toISOString()
    const expired = await make({ expires_at })
    t.equal((await server.as(expired.key).sessions()).status, 200)
    clock.advance(61_000)
    for (const key of ['svc_live_unknown', revoked.key, expired.key])
      refused(t, await server.as(key).sessions(), 401, 'invalid_api_key', {
        detail: /invalid or expired/i,
      })
  },

  async 'error insufficient_scopes 403'(t) {
    const { server, organization, only } = await scene(t)
    const key = await only('sessions:read', 'content:read')
    refused(t, await key.chat({ messages }), 403, 'insufficient_scopes', {
      error: 'insufficient_scopes',
      message: /orchestrator:invoke/,
      required_scopes: ['orchestrator:invoke'],
      missing_scopes: ['orchestrator:invoke'],
      available_scopes: ['sessions:read', 'content:read'],
    })
    const person = { scopes: [...scopes], type: 'user', user_id: await organization.member() }
    const keys = `/api/admin/organizations/${organization.organizationId}/api-keys`
    const created = await server.platform.ask('POST', keys.slice('/api/admin'.length), {
      name: 'Own',
      ...person,
    })
    refused(
      t,
      await server.as(created.key).ask('POST', '/api/me/api-keys', {
        name: 'More',
        scopes: ['users:provision'],
      }),
      403,
      'scope_not_allowed',
      inError('scope_not_allowed', 'permission_error'),
    )
  },

  async 'error no_subscription 403'(t) {
    const { server } = await scene(t)
    const key = await (await server.platform.organization({ plan: null })).key()
    const body = {
      ...inError('no_subscription', 'subscription_required'),
      has_subscription: false,
      required_plans,
    }
    refused(t, await key.chat({ messages }), 403, 'no_subscription', body)
    refused(t, await key.ask('POST', api('/v1/warmup')), 403, 'no_subscription', body)
  },

  async 'error invalid_plan 403'(t) {
    // No plan but the two can be set: another is one of an older log.
    const access: Access = {
      kind: 'organization',
      keyId: 'key',
      organizationId: 'organization',
      userId: 'user',
      role: 'OWNER',
      scopes: new Set(scopes),
      keyScopes: new Set(scopes),
      limits: { minute: 1, hour: 1 },
      plan: 'starter_monthly',
    }
    const refusal = await requireSubscription({ findBalance: async () => undefined })(access).catch(
      (error) => error,
    )
    t.ok(refusal instanceof Refusal)
    t.match(bodyOf(refusal, 'chat'), {
      ...inError('invalid_plan', 'invalid_subscription_plan'),
      current_plan: 'starter_monthly',
      required_plans,
    })
  },

  async 'error organization_access_denied 403'(t) {
    const { server, organization, key } = await scene(t)
    const other = await server.platform.organization()
    const elsewhere = { headers: { 'x-organization-id': other.organizationId } }
    const own = await organization.key({ type: 'user' })
    for (const client of [key, own])
      refused(
        t,
        await client.ask('GET', api('/sessions'), undefined, elsewhere),
        403,
        'organization_access_denied',
        { detail: String },
      )
    const provision = { email: 'a@example.com', organization_id: other.organizationId }
    const people = api('/management/users')
    refused(t, await key.ask('POST', people, provision), 403, 'organization_access_denied', {})
    const user_id = await organization.member()
    const member = await organization.key({ scopes: ['users:provision'], user_id })
    const body = { ...provision, organization_id: organization.organizationId }
    refused(t, await member.ask('POST', people, body), 403, 'organization_access_denied', {})
  },

  async 'error insufficient_credits 402'(t) {
    const { server } = await scene(t)
    const poor = await server.platform.organization({ credits: 0 })
    const debt = { amount: -1.5, reason: 'debt' }
    await server.platform.ask('POST', `/users/${poor.ownerId}/credits`, debt)
    const key = await poor.key()
    const body = {
      ...inError('insufficient_credits', 'insufficient_credits'),
      credit_balance: -1.5,
      effective_balance: -1.5,
      can_use_api: false,
    }
    const chat = await key.chat({ messages })
    refused(t, chat, 402, 'insufficient_credits', body)
    t.equal(chat.headers.get('x-should-retry'), 'false')
    refused(t, await key.ask('POST', api('/v1/warmup')), 402, 'insufficient_credits', body)
  },

  async 'error agent_inactive 400'(t) {
    const { ask, key, organization } = await scene(t)
    const agent_id = await organization.agent({ name: 'Asleep', is_active: false })
    const body = inError('agent_inactive')
    for (const answer of [
      await ask('POST', api(`/agents/${agent_id}/completions`), { message: 'Hi' }),
      await ask('POST', api('/v1/warmup'), { agent_id }),
      await key.chat({ messages, target_agent_id: agent_id }),
    ])
      refused(t, answer, 400, 'agent_inactive', body)
  },

  async 'error invalid agent_type or content_type 400'(t) {
    const { ask } = await scene(t)
    for (const [query, allowed] of [
      ['/agents?agent_type=ROBOT', /LLM_AGENT, SEQUENTIAL_AGENT, PARALLEL_AGENT, LOOP_AGENT/],
      ['/content?content_type=poem', /image, video, audio, glb, other/],
      ['/content?status=lost', /pending, processing, completed, failed/],
      ['/rag/uploads?status=lost', /pending, processing, indexing, completed, failed/],
    ] as const)
      refused(t, await ask('GET', api(query)), 400, 'invalid_filter', { detail: allowed })
  },

  async 'error cannot retry 400'(t) {
    const { ask, generated } = await scene(t)
    const { id } = await generated('image')
    const answer = await ask('POST', api(`/content/${id}/retry`))
    refused(t, answer, 400, 'content_not_failed', { detail: /cannot retry/i })
  },

  async 'error maximum retries reached 400'(t) {
    const { ask, key, generated } = await scene(t)
    const { id, ...item } = await generated('video')
    t.match(item, { status: 'failed', error_message: /video/ })
    for (const n of [1, 2, 3]) {
      const { body } = await ask('POST', api(`/content/${id}/retry`))
      t.match(body, { message: `Retry queued (attempt ${n} of 3)` })
      await settledContent(key)
    }
    const answer = await ask('POST', api(`/content/${id}/retry`))
    refused(t, answer, 400, 'max_retries_reached', { detail: /maximum retries/i })
  },

  async 'error missing_required_field 400'(t) {
    const { key, organization } = await scene(t)
    const agent_id = await organization.agent({ name: 'Helper' })
    const missing = (param: string) => inError('missing_required_field', invalid, { param })
    refused(t, await key.chat({}), 400, 'missing_required_field', missing('messages'))
    const path = api(`/agents/${agent_id}/completions`)
    refused(t, await key.ask('POST', path, {}), 400, 'missing_required_field', missing('message'))
  },

  async 'error invalid_input, invalid_json 400'(t) {
    const { server, key, ask } = await scene(t)
    const wrong = await key.chat({ messages: 'Hi' })
    refused(
      t,
      wrong,
      400,
      'invalid_input',
      inError('invalid_input', invalid, { param: 'messages' }),
    )
    const issue = { loc: ['body', 'display_name'], msg: String, type: String }
    const listed = await ask('POST', api('/rag/datastores'), { display_name: 5 })
    refused(t, listed, 400, 'invalid_input', { detail: [issue] })
    for (const [path, body] of [
      ['/v1/chat/completions', inError('invalid_json')],
      ['/rag/datastores', inRag('invalid_json', invalid)],
      ['/management/users', { detail: String }],
    ] as const) {
      const headers = { 'x-api-key': key.key, 'content-type': 'application/json' }
      const url = new URL(api(path), server.url)
      const answer = await fetch(url, { method: 'POST', headers, body: '{"a":' })
      t.equal(answer.status, 400)
      t.equal(answer.headers.get('x-error-code'), 'invalid_json')
      t.match(await answer.json(), body)
    }
  },

  'error unsupported_file_type 400': (t) =>
    refusedUpload(t, encodedFile('a.exe', 'MZ'), 'unsupported_file_type'),

  'error file_too_large 400': (t) =>
    refusedUpload(t, encodedFile('a.txt', Buffer.alloc(10 * 1024 * 1024 + 1)), 'file_too_large'),

  'error invalid_base64 400': (t) =>
    refusedUpload(t, { filename: 'a.txt', content: 'no base64!' }, 'invalid_base64'),

  async 'error agent_not_found 404'(t) {
    const { server, key, ask } = await scene(t)
    const theirs = await (await server.platform.organization()).agent({ name: 'Theirs' })
    for (const agent_id of [unknownId, theirs])
      for (const answer of [
        await ask('POST', api(`/agents/${agent_id}/completions`), { message: 'Hi' }),
        await ask('POST', api('/v1/warmup'), { agent_id }),
        await key.chat({ messages, target_agent_id: agent_id }),
      ])
        refused(t, answer, 404, 'agent_not_found', inError('agent_not_found'))
  },

  async 'error session_not_found 404'(t) {
    const { server, key } = await scene(t)
    const stranger = await (await server.platform.organization()).key()
    await stranger.chat({ messages, session_id: 'theirs' })
    for (const session of ['none', 'theirs'])
      for (const answer of [await key.messages(session), await key.status(session)])
        refused(t, answer, 404, 'session_not_found', { detail: /not found or access denied/i })
  },

  async 'error message_not_found 404'(t) {
    const { ask, key } = await scene(t)
    await key.chat({ messages, session_id: 'mine' })
    await key.chat({ messages, session_id: 'other' })
    const [first, second] = (await key.messages('mine')).body.messages
    const getMessage = (session: string, id: string) =>
      ask('GET', api(`/sessions/${session}/messages/${id}`))
    t.strictSame((await getMessage('mine', first.event_id)).body, first)
    t.strictSame((await getMessage('mine', second.event_id)).body, second)
    for (const [session, id] of [
      ['mine', unknownId],
      ['other', first.event_id],
    ] as const)
      refused(t, await getMessage(session, id), 404, 'message_not_found', {
        detail: /no such message/,
      })
    refused(t, await getMessage('none', first.event_id), 404, 'session_not_found', {})
  },

  async 'error content not found 404'(t) {
    const { server, ask, generated } = await scene(t)
    const { id } = await generated('image')
    const stranger = await (await server.platform.organization()).key({ scopes })
    for (const [by, of] of [
      [ask, unknownId],
      [stranger.ask, id],
    ] as const) {
      const missing = [404, 'content_not_found', { detail: 'Content not found' }] as const
      refused(t, await by('GET', api(`/content/${of}`)), ...missing)
      refused(t, await by('POST', api(`/content/${of}/retry`)), ...missing)
    }
  },

  async 'error datastore_not_found 404'(t) {
    const { rag } = await scene(t)
    const at = `/datastores/${unknownId}`
    for (const answer of [
      await rag.ask('GET', `${at}/files`),
      await rag.ask('DELETE', at),
      await rag.ask('DELETE', `${at}/files/a.txt`),
      await rag.upload(unknownId, encodedFile('a.txt', 'a')),
    ])
      refused(t, answer, 404, 'datastore_not_found', inRag('datastore_not_found', 'not_found'))
  },

  async 'error upload_not_found 404'(t) {
    const { rag } = await scene(t)
    const answer = await rag.ask('GET', `/uploads/${unknownId}`)
    refused(t, answer, 404, 'upload_not_found', inRag('upload_not_found', 'not_found'))
  },

  async 'error datastore_exists 409'(t) {
    const { rag } = await scene(t)
    const existing_datastore_id = await rag.datastore('Terms')
    const again = await rag.ask('POST', '/datastores', { display_name: 'Terms' })
    const body = inRag('datastore_exists', 'conflict_error', { existing_datastore_id })
    refused(t, again, 409, 'datastore_exists', body)
  },

  async 'error DataStore in use 409'(t) {
    const { rag, organization } = await scene(t)
    const id = await rag.datastore()
    const agent_id = await organization.agent({ name: 'Reader', datastore_ids: [id] })
    const body = inRag('datastore_in_use', 'conflict_error', { agents: [{ agent_id }] })
    refused(t, await rag.ask('DELETE', `/datastores/${id}`), 409, 'datastore_in_use', body)
    t.equal((await rag.ask('DELETE', `/datastores/${id}?force=true`)).status, 200)
  },

  async 'error payload_too_large 413'(t) {
    const { key, ask } = await scene(t)
    const large = 'x'.repeat(10 * 1024 * 1024)
    const chat = await key.chat({ messages: user(large) })
    refused(t, chat, 413, 'payload_too_large', inError('payload_too_large'))
    const named = await ask('POST', api('/rag/datastores'), { display_name: large })
    refused(t, named, 413, 'payload_too_large', inRag('payload_too_large', invalid))
  },

  async 'error invalid email 422'(t) {
    const { ask, organization } = await scene(t)
    const { organizationId: organization_id } = organization
    const answer = await ask('POST', api('/management/users'), { email: 'nobody', organization_id })
    const detail = [{ loc: ['body', 'email'], msg: String, type: String }]
    refused(t, answer, 422, 'invalid_email', { detail })
  },

  async 'error rate_limit_exceeded 429'(t) {
    const { organization } = await scene(t)
    const key = await organization.key({ rate_limit_minute: 1 })
    await key.sessions()
    const answer = await key.sessions()
    refused(t, answer, 429, 'rate_limit_exceeded', {
      error: 'rate_limit_exceeded',
      message: String,
      limit: 1,
      window: 'minute',
      reset_at: Number,
      retry_after: Number,
    })
    t.equal(answer.headers.get('retry-after'), String(answer.body.retry_after))
  },

  async 'error internal_error 500'(t) {
    const clock = movableClock()
    let broken = false
    const id = () => {
      if (broken) throw new Error('secret')
      return clock.id()
    }
    const { key } = await scene(t, { clock: { ...clock, id } })
    const headers = { 'x-request-id': 'mine' }
    broken = true
    const answer = await key.chat({ messages }, { headers })
    broken = false
    refused(t, answer, 500, 'internal_error', inError('internal_error', 'server_error'))
    t.notMatch(JSON.stringify(answer.body), /secret|at /, 'and no more')
    t.equal((await key.chat({ messages }, { headers })).status, 200)
  },

  'error orchestrator_error 500': (t) =>
    failing(t, { raw: 'data: <html>\n\n' }, 1, 500, 'orchestrator_error'),

  'error llm_service_unavailable 500/503': (t) =>
    failing(t, { status: 500 }, 3, 503, 'llm_service_unavailable'),

  async 'error upstream 502, 503, 504'(t) {
    for (const status of [502, 503, 529])
      await failing(t, { status }, 3, 503, 'llm_service_unavailable')
    await failing(t, { silent: true }, 1, 504, 'llm_service_timeout')
  },
})
