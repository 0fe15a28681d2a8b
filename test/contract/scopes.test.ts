import t, { type Test } from 'tap'
import { defaultScopes, scopes } from '../../src/domain/api-key/scopes.ts'
import { type Client, user } from '../support/client.ts'
import { covering } from './covering.ts'
import type { Row } from './rows.ts'
import { api, scene, unknownId } from './scene.ts'

type ApiCall = [method: string, path: string, body?: object]
type Scene = Awaited<ReturnType<typeof scene>>

const chat = api('/v1/chat/completions')
const messages = user('Hi')
const credentials = api('/me/credentials')
const people = api('/management/users')
const users = api(`/management/users/${unknownId}`)

/**
 * The call is refused without all of these scopes, and without each single one. Scopes that only
 * the body requires are reported once the route's own scopes are present.
 */
const needs = async (t: Test, { only }: Scene, needed: readonly string[], call: ApiCall) => {
  const what = `${call[0]} ${call[1]}`
  const others = scopes.filter((scope) => !needed.includes(scope))
  const none = await (await only(...others)).ask(...call)
  t.match(none, { status: 403, code: 'insufficient_scopes' }, what)
  t.ok(needed.includes(none.body.missing_scopes[0]), what)
  for (const lacking of needed) {
    const some = scopes.filter((scope) => scope !== lacking)
    const { status, body } = await (await only(...some)).ask(...call)
    t.match({ status, body }, { status: 403, body: { error: 'insufficient_scopes' } })
    const { message, missing_scopes, available_scopes, required_scopes } = body
    t.match(message, lacking)
    t.strictSame(missing_scopes, [lacking], `${what} without ${lacking}`)
    t.ok(required_scopes.includes(lacking))
    t.strictSame(available_scopes.toSorted(), some.toSorted())
  }
}

/** With these scopes alone the call succeeds, or is refused for another reason. */
const suffices = async (t: Test, by: Client, call: ApiCall, status = 200) =>
  t.equal((await by.ask(...call)).status, status, `${call[0]} ${call[1]}`)

type Needed = { needs: string[]; call: ApiCall; status?: number; userKey?: true }

/** The call needs each of these scopes, and no other. */
const holds = async (t: Test, all: Scene, { needs: needed, call, ...more }: Needed) => {
  await needs(t, all, needed, call)
  const key = more.userKey
    ? await all.organization.key({ scopes: needed, type: 'user' })
    : await all.only(...needed)
  await suffices(t, key, call, more.status)
}

const datastore = api(`/rag/datastores/${unknownId}`)
const content = api(`/content/${unknownId}`)
const agent = api(`/agents/${unknownId}/completions`)

/** By row, the calls that need the scope; a 404 has passed the check of scopes. */
const granted: Record<Exclude<Row<'scopes'>, `${string}:delegate`>, Needed[]> = {
  'scope orchestrator:invoke': [
    { needs: ['orchestrator:invoke'], call: ['POST', chat, { messages }] },
  ],
  'scope orchestrator:stream': [
    {
      needs: ['orchestrator:invoke', 'orchestrator:stream'],
      call: ['POST', chat, { messages, stream: true }],
    },
  ],
  'scope sessions:read': [
    { needs: ['sessions:read'], call: ['GET', api('/sessions')] },
    { needs: ['sessions:read'], call: ['GET', api('/sessions/none/status')], status: 404 },
  ],
  'scope sessions:messages': [
    { needs: ['sessions:messages'], call: ['GET', api('/sessions/none/messages')], status: 404 },
    { needs: ['sessions:messages'], call: ['GET', api('/sessions/none/stream')], status: 404 },
  ],
  'scope sessions:delete': [
    { needs: ['sessions:delete'], call: ['DELETE', `${users}/sessions`], status: 404 },
    { needs: ['sessions:delete'], call: ['DELETE', `${users}/sessions/none`], status: 404 },
  ],
  'scope content:read': [
    { needs: ['content:read'], call: ['GET', api('/content')] },
    { needs: ['content:read'], call: ['GET', content], status: 404 },
  ],
  'scope content:retry': [
    { needs: ['content:retry'], call: ['POST', `${content}/retry`], status: 404 },
  ],
  'scope agents:list': [
    { needs: ['agents:list'], call: ['GET', api('/agents')] },
    { needs: ['agents:list'], call: ['GET', '/management/agents'] },
    { needs: ['agents:list'], call: ['GET', api('/v1/models')] },
    { needs: ['agents:list'], call: ['GET', api('/v1/models/svc-orchestrator')] },
  ],
  'scope agents:invoke': [
    { needs: ['agents:invoke'], call: ['POST', agent, { message: 'Hi' }], status: 404 },
  ],
  'scope agents:manage': [
    {
      needs: ['agents:manage'],
      call: ['PUT', api(`/management/agents/${unknownId}/instruction`), { instruction: 'a' }],
      status: 404,
      userKey: true,
    },
  ],
  'scope rag:upload': [
    { needs: ['rag:upload'], call: ['POST', api('/rag/datastores'), { display_name: 'a' }] },
    {
      needs: ['rag:upload'],
      call: [
        'POST',
        api('/rag/upload'),
        { datastore_id: unknownId, files: [{ filename: 'a.txt', content: 'YQ==' }] },
      ],
      status: 404,
    },
  ],
  'scope rag:read': [
    { needs: ['rag:read'], call: ['GET', api('/rag/datastores')] },
    { needs: ['rag:read'], call: ['GET', api('/rag/uploads')] },
    { needs: ['rag:read'], call: ['GET', `${datastore}/files`], status: 404 },
    { needs: ['rag:read'], call: ['GET', api(`/rag/uploads/${unknownId}`)], status: 404 },
    { needs: ['rag:read'], call: ['POST', `${datastore}/search`, { query: 'a' }], status: 404 },
  ],
  'scope rag:delete': [
    { needs: ['rag:delete'], call: ['DELETE', datastore], status: 404 },
    { needs: ['rag:delete'], call: ['DELETE', `${datastore}/files/a.txt`], status: 404 },
  ],
  'scope admin:read': [
    { needs: ['admin:read'], call: ['GET', '/api/admin/organizations/{own}'] },
    { needs: ['admin:read'], call: ['GET', '/api/admin/organizations/{own}/members'] },
    { needs: ['admin:read'], call: ['GET', '/api/admin/organizations/{own}/api-keys'] },
    { needs: ['admin:read'], call: ['GET', '/api/admin/organizations/{own}/audit/events'] },
  ],
  'scope admin:write': [
    { needs: ['admin:write'], call: ['PATCH', '/api/admin/organizations/{own}', { name: 'a' }] },
    {
      needs: ['admin:write'],
      call: ['POST', '/api/admin/organizations/{own}/agents', { name: 'a' }],
      status: 201,
    },
    {
      needs: ['admin:write'],
      call: ['POST', '/api/admin/organizations/{own}/api-keys', { name: 'a' }],
      status: 201,
    },
  ],
  'scope users:provision': [
    { needs: ['users:provision'], call: ['GET', people] },
    {
      needs: ['users:provision'],
      call: ['POST', people, { email: 'a@example.com', organization_id: unknownId }],
      status: 403,
    },
  ],
  'scope users:credentials': [
    { needs: ['users:credentials'], call: ['GET', `${users}/credentials`], status: 404 },
    {
      needs: ['users:credentials'],
      call: ['PUT', `${users}/credentials/A`, { value: 'a' }],
      status: 404,
    },
    { needs: ['users:credentials'], call: ['DELETE', `${users}/connect-links`], status: 404 },
  ],
  'scope secrets:manage': [
    { needs: ['secrets:manage'], call: ['GET', credentials], userKey: true },
    {
      needs: ['secrets:manage'],
      call: ['PUT', `${credentials}/A`, { value: 'a' }],
      userKey: true,
    },
  ],
}

const allOf = (row: keyof typeof granted) => async (t: Test) => {
  const all = await scene(t)
  for (const grant of granted[row]) {
    const [method, path, body] = grant.call
    const own = path.replace('{own}', all.organization.organizationId)
    await holds(t, all, { ...grant, call: [method, own, ...(body ? [body] : [])] as ApiCall })
  }
}

const delegating = async (t: Test) => {
  const all = await scene(t)
  const on_behalf_of = await all.organization.member()
  const read = `?on_behalf_of=${on_behalf_of}`
  const delegate = 'users:delegate'
  const invoke = ['orchestrator:invoke', delegate]
  await holds(t, all, { needs: invoke, call: ['POST', chat, { messages, on_behalf_of }] })
  await holds(t, all, { needs: invoke, call: ['POST', api('/v1/warmup'), { on_behalf_of }] })
  for (const [scope, path, status] of [
    ['sessions:read', '/sessions', 200],
    ['sessions:read', '/sessions/none/status', 404],
    ['sessions:messages', '/sessions/none/messages', 404],
    ['content:read', '/content', 200],
  ] as const)
    await holds(t, all, { needs: [scope, delegate], call: ['GET', api(path) + read], status })
}

covering(t, 'scopes', {
  'scope orchestrator:invoke': allOf('scope orchestrator:invoke'),
  'scope orchestrator:stream': allOf('scope orchestrator:stream'),
  'scope sessions:read': allOf('scope sessions:read'),
  'scope sessions:messages': allOf('scope sessions:messages'),
  'scope sessions:delete': allOf('scope sessions:delete'),
  'scope content:read': allOf('scope content:read'),
  'scope content:retry': allOf('scope content:retry'),
  'scope agents:list': allOf('scope agents:list'),
  'scope agents:invoke': allOf('scope agents:invoke'),
  'scope agents:manage': allOf('scope agents:manage'),
  'scope rag:upload': allOf('scope rag:upload'),
  'scope rag:read': allOf('scope rag:read'),
  async 'scope rag:delete'(t) {
    await allOf('scope rag:delete')(t)
    for (const kind of ['organization', 'user'] as const)
      t.notOk(defaultScopes[kind].includes('rag:delete'), `no ${kind} key has it unasked`)
  },
  'scope admin:read': allOf('scope admin:read'),
  'scope admin:write': allOf('scope admin:write'),
  'scope users:provision': allOf('scope users:provision'),
  'scope users:delegate': delegating,
  'scope users:credentials': allOf('scope users:credentials'),
  'scope secrets:manage': allOf('scope secrets:manage'),
})

covering(t, 'requirements', {
  'scopes of chat, non-streaming': allOf('scope orchestrator:invoke'),
  'scopes of chat, streaming': allOf('scope orchestrator:stream'),
  async 'scopes of chat with on_behalf_of'(t) {
    const all = await scene(t)
    const on_behalf_of = await all.organization.member({ pending: true })
    const invoke = ['orchestrator:invoke', 'users:delegate']
    await holds(t, all, { needs: invoke, call: ['POST', chat, { messages, on_behalf_of }] })
    const stream = { messages, on_behalf_of, stream: true }
    await holds(t, all, {
      needs: [...invoke, 'orchestrator:stream'],
      call: ['POST', chat, stream],
    })
  },
  async 'scopes of warmup'(t) {
    const all = await scene(t)
    const on_behalf_of = await all.organization.member()
    const agent_id = await all.organization.agent({ name: 'Helper' })
    const warmup = api('/v1/warmup')
    const invoke = 'orchestrator:invoke'
    await holds(t, all, { needs: [invoke], call: ['POST', warmup, {}] })
    for (const [body, more] of [
      [{ on_behalf_of }, ['users:delegate']],
      [{ agent_id }, ['agents:invoke']],
      [{ on_behalf_of, agent_id }, ['users:delegate', 'agents:invoke']],
    ] as const)
      await holds(t, all, { needs: [invoke, ...more], call: ['POST', warmup, body] })
  },
  'scopes of GET agents': allOf('scope agents:list'),
  'scopes of POST agents/{id}/completions': allOf('scope agents:invoke'),
  'scopes of GET sessions and status': allOf('scope sessions:read'),
  'scopes of GET sessions/{id}/messages': allOf('scope sessions:messages'),
  'scopes of GET content and content/{id}': allOf('scope content:read'),
  'scopes of POST content/{id}/retry': allOf('scope content:retry'),
  'scopes of POST rag/datastores and rag/upload': allOf('scope rag:upload'),
  'scopes of GET datastores, files, uploads, upload status': allOf('scope rag:read'),
  'scopes of DELETE datastore and file': allOf('scope rag:delete'),
  async 'scopes of POST management/users'(t) {
    const { organization, only } = await scene(t)
    const { organizationId: organization_id } = organization
    const body = { email: 'ann@example.com', organization_id }
    await suffices(t, await only('users:provision'), ['POST', people, body])
    const user_id = await organization.member()
    const member = await organization.key({ scopes: ['users:provision'], user_id })
    t.match(await member.ask('POST', people, body), {
      status: 403,
      code: /organization_access_denied|role_required/,
    })
  },
})
