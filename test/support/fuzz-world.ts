import fc from 'fast-check'
import { scopes } from '../../src/domain/api-key/scopes.ts'
import { user } from './client.ts'
import type { Named } from './json-arbitrary.ts'
import { encodedFile, library } from './library.ts'
import { type platform, superAdminKey } from './platform.ts'

const oneOf = (...values: readonly string[]) => fc.constantFrom(...values)

const url = oneOf(
  'https://a.example/{name}',
  'https://a.example',
  'http://localhost/',
  'https://',
  'a',
)

/**
 * An organization with something of everything, keys of every kind to come with, and what the
 * names in its requests stand for. What other fuzzed requests did to another one is not seen here.
 */
export const fuzzWorld = async ({
  ask,
  organization: newOrganization,
}: ReturnType<typeof platform>) => {
  const organization = await newOrganization({ credits: 1_000 })
  const elsewhere = await newOrganization()
  const { organizationId, ownerId } = organization
  const wide = { scopes, rate_limit_minute: 1_000, rate_limit_hour: 100_000 }
  const all = await organization.key(wide)
  const own = await organization.key({ ...wide, type: 'user' })
  const member = await organization.member()
  const agents = [
    await organization.agent({ name: 'Writer', tools: ['generate_content'] }),
    await organization.agent({ name: 'Asleep', is_active: false }),
    await organization.agent({ name: 'Line', agent_type: 'SEQUENTIAL_AGENT' }),
    await organization.agent({
      name: 'Caller',
      tools: [
        {
          type: 'api_call',
          name: 'orders',
          method: 'GET',
          url: 'https://api.invalid/',
          headers: { authorization: '{{credential:SHOP}}' },
        },
      ],
    }),
  ]
  const { ask: external } = all
  const at = (path: string) => `/api/external${path}`
  const partner = {
    email: `partner-${organizationId}@example.com`,
    organization_id: organizationId,
  }
  const provisioned: string = (await external('POST', at('/management/users'), partner)).body
    .user_id
  await external('PUT', at(`/management/users/${provisioned}/credentials/SHOP`), { value: 'a' })
  await own.ask('PUT', at('/me/credentials/SHOP'), { value: 'a' })
  const { session_id } = (await all.chat({ messages: user('Hi') })).body
  for (const what of ['an image', 'a video'])
    await external('POST', at(`/agents/${agents[0]}/completions`), {
      message: `Draw ${what} of a cat`,
    })
  const contents = (await external('GET', at('/content'))).body.items
  const { datastore, upload } = library(all)
  const datastores = [await datastore('Library'), await datastore('Empty')]
  const sent = await upload(datastores[0] ?? '', encodedFile('a.txt', 'The zebra sleeps.'))
  const [message] = (await external('GET', at(`/sessions/${session_id}/messages`))).body.messages
  const history = `/organizations/${organizationId}/audit/events`
  const { runId } = (await ask('GET', `${history}?type=RunStarted`)).events[0].data
  const careful = [{ type: 'remember', requires_approval: true }]
  const discreet = await organization.agent({ name: 'Discreet', tools: careful })
  await external('POST', at(`/agents/${discreet}/completions`), { message: 'remember that a' })
  const [approval] = (await external('GET', at('/approvals'))).body.approvals
  const keys = (await ask('GET', `/organizations/${organizationId}/api-keys`)).api_keys

  const users = oneOf(ownerId, member, provisioned, elsewhere.ownerId)
  const named: Named = {
    organization_id: fc.oneof(
      { weight: 6, arbitrary: fc.constant(organizationId) },
      { weight: 1, arbitrary: fc.constant(elsewhere.organizationId) },
    ),
    user_id: users,
    on_behalf_of: users,
    agent_id: oneOf(...agents),
    target_agent_id: oneOf(...agents),
    sub_agents: oneOf(...agents),
    session_id: oneOf(session_id, 'mine'),
    datastore_id: oneOf(...datastores),
    datastore_ids: oneOf(...datastores),
    event_id: oneOf(message.event_id),
    run_id: oneOf(runId),
    response_id: oneOf(`resp_${runId}`),
    approval_id: oneOf(approval.approval_id),
    arguments_digest: oneOf(approval.arguments_digest, 'a'),
    upload_id: oneOf(sent.body.uploads[0].upload_id),
    content_id: oneOf(...contents.map(({ id }: { id: string }) => id)),
    key_id: oneOf(...keys.map(({ key_id }: { key_id: string }) => key_id)),
    filename: oneOf('a.txt', 'b.md', 'c.json', 'd.pdf', 'e.docx', 'f.exe'),
    content_type: oneOf('text/plain', 'application/json', 'image', 'a/b'),
    email: fc.oneof(fc.emailAddress(), oneOf(partner.email, 'A@b.example', 'a')),
    return_url: url,
    url,
    method: oneOf('GET', 'POST', 'get', 'TRACE', 'FOO BAR'),
    expires_at: oneOf('2090-01-01T00:00:00Z', '2001-01-01T00:00:00+01:00', '2030-02-30T00:00:00Z'),
    content: fc.oneof(fc.base64String(), fc.string()),
    name: fc.oneof(oneOf('SHOP', 'sessions', 'Writer'), fc.string()),
    model: oneOf('offline/extractive', 'no/such', 'a'),
    message: oneOf(
      'Draw an image',
      'orders id=1',
      'goodbye',
      'remember that a',
      'a person, please',
    ),
    type: oneOf('SessionStarted', 'organization'),
  }

  return {
    named,
    organizationId,
    session: session_id,
    /** One of each that there is, by the names that paths have for them. */
    one: {
      organization_id: organizationId,
      user_id: provisioned,
      agent_id: agents[0] ?? '',
      model_id: 'svc-orchestrator',
      session_id,
      event_id: message.event_id,
      run_id: runId,
      response_id: `resp_${runId}`,
      approval_id: approval.approval_id,
      content_id: contents[0].id,
      datastore_id: datastores[0] ?? '',
      upload_id: sent.body.uploads[0].upload_id,
      filename: 'a.txt',
      key_id: keys[0].key_id,
      name: 'SHOP',
      read_model: 'sessions',
      tool_id: 'call_1',
      level: '0',
      tile: '000.p/1',
    } as Readonly<Record<string, string>>,
    /** By what they can do. */
    keys: {
      all: all.key,
      own: own.key,
      platform: superAdminKey,
      scopeless: (await organization.key({ scopes: [] })).key,
      planless: (await (await newOrganization({ plan: null })).key({ scopes })).key,
      stranger: (await elsewhere.key(wide)).key,
      member: (await organization.key({ ...wide, user_id: member })).key,
      unknown: 'svc_live_unknown',
      none: '',
    },
  }
}

export type World = Awaited<ReturnType<typeof fuzzWorld>>
