import type { SwaggerOptions } from '@fastify/swagger'
import { demoId } from '../../support/ids.ts'

type Values = Readonly<Record<string, unknown>>
type Bodies = Readonly<Record<string, Values>>

const organization_id = demoId('organization')
const datastore_id = demoId('datastore')
const librarian = demoId('Librarian')
const question = 'How many days of leave are there?'
const session_id = 'tour'
const responses = '/api/external/v1/responses'
const chat = '/api/external/v1/chat/completions'
const invited = 'ada@example.com'

/** Bodies that work as they stand on a server with the demo organization, by method and path. */
const bodies = {
  post: {
    [chat]: {
      messages: [{ role: 'user', content: question }],
      session_id,
    },
    [responses]: { input: question },
    [`${responses}/{response_id}/cancel`]: {},
    '/api/external/v1/warmup': {},
    '/api/external/agents/{agent_id}/completions': { message: question },
    '/api/external/sessions/{session_id}/cancel': {},
    '/api/external/sessions/{session_id}/fork': {},
    '/api/external/sessions/{session_id}/messages/{event_id}/regenerate': {},
    '/api/external/sessions/{session_id}/runs/{run_id}/tools/{tool_id}/outcome': {
      outcome: 'done',
      result: 'Refund 4711 was made',
    },
    '/api/external/approvals/{approval_id}': {
      decision: 'approve',
      arguments_digest: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    },
    '/console/session': { api_key: `svc_live_${'x'.repeat(32)}` },
    '/api/external/management/users': {
      email: 'grace@customer.example',
      name: 'Grace',
      organization_id,
    },
    '/api/external/management/users/{user_id}/connect-links': {
      agent_id: librarian,
      return_url: 'https://app.example/connected',
    },
    '/api/external/rag/datastores': {
      display_name: 'Manuals',
      description: 'What our machines do',
    },
    '/api/external/rag/datastores/{datastore_id}/search': { query: 'days of leave', limit: 3 },
    '/api/external/rag/upload': {
      datastore_id,
      files: [
        {
          filename: 'opening-hours.md',
          content: Buffer.from('# Opening hours\n\nWe open at nine.\n').toString('base64'),
          content_type: 'text/markdown',
        },
      ],
    },
    '/api/admin/organizations': {
      name: 'Acme',
      owner: { email: 'owner@acme.example', name: 'Olga' },
      plan: 'pro_monthly',
      credits: 100,
    },
    '/api/admin/organizations/{organization_id}/members': {
      email: invited,
      name: 'Ada',
      role: 'MEMBER',
    },
    '/api/admin/organizations/{organization_id}/agents': {
      name: 'Orders',
      description: 'Answers questions about orders',
      instruction: 'Look the order up, and say where it is.',
      tools: [
        {
          type: 'api_call',
          name: 'get_order',
          description: 'Reads an order',
          method: 'GET',
          url: 'https://shop.example/orders/{id}',
          headers: { Authorization: 'Bearer {{credential:SHOP}}' },
          parameters: {
            type: 'object',
            properties: { id: { type: 'string' } },
            required: ['id'],
          },
        },
      ],
    },
    '/api/admin/organizations/{organization_id}/agent-drafts/completions': {
      agent: { name: 'Orders', instruction: 'Answer in one sentence.' },
      message: 'Where is my order?',
    },
    '/api/admin/organizations/{organization_id}/api-keys': {
      name: 'Website',
      scopes: ['orchestrator:invoke', 'orchestrator:stream'],
      rate_limit_minute: 60,
    },
    '/api/admin/organizations/{organization_id}/runs/{run_id}/replay': {},
    '/api/admin/users/{user_id}/credits': { amount: 10, reason: 'A gift' },
    '/api/admin/identity/logins': { email: invited, provider: 'example', subject: 'ada-1' },
    '/api/admin/master-key/rotation': {},
    '/api/me/memberships/{organization_id}/accept': {},
    '/api/me/api-keys': { name: 'Laptop' },
  },
  put: {
    '/api/external/management/agents/{agent_id}/instruction': {
      instruction: 'Answer from the documents, and name the file that the answer is from.',
    },
    '/api/external/management/users/{user_id}/credentials/{name}': { value: 'their-own-key' },
    '/api/external/me/credentials/{name}': { value: 'my-own-key' },
    '/api/admin/users/{user_id}/subscription': { plan: 'pro_monthly' },
  },
  patch: {
    '/api/admin/organizations/{organization_id}': { name: 'Demo' },
    '/api/admin/organizations/{organization_id}/members/{user_id}': { role: 'ADMIN' },
    '/api/admin/organizations/{organization_id}/agents/{agent_id}': {
      description: 'Answers questions about documents',
    },
    '/api/admin/organizations/{organization_id}/api-keys/{key_id}': { name: 'Renamed' },
  },
} as const satisfies Record<string, Bodies>

/** Of parameters that must be given, by name. */
const values: Values = {
  organization_id,
  datastore_id,
  session_id,
  agent_id: librarian,
  model_id: 'svc-orchestrator',
  upload_id: demoId('upload-0'),
  filename: 'handbook.md',
  read_model: 'sessions',
  view: 'sessions',
  index: 0,
  from: 1,
}

const parameterOf = (name: string, path: string): unknown =>
  name === 'name' ? (path.includes('/credentials/') ? 'SHOP' : 'sessions') : values[name]

type Transform = NonNullable<
  Extract<SwaggerOptions, { transformObject?: unknown }>['transformObject']
>

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const

const bodyOf = (method: string, path: string): Values | undefined => {
  const table: Readonly<Record<string, Bodies>> = bodies
  return table[method]?.[path]
}

/** The request to begin with comes first in its group. */
const firstPath = <Item>(paths: Readonly<Record<string, Item>> = {}): Record<string, Item> => {
  const { [chat]: first, ...others } = paths
  return first === undefined ? others : { [chat]: first, ...others }
}

/**
 * Adds examples to the OpenAPI document: `/docs` fills them in, so that "Try it out" works at once.
 * Ids are the demo organization's, except in paths whose ids only a request creates.
 */
export const withExamples: Transform = (document) => {
  if (!('openapiObject' in document)) return document.swaggerObject
  const { openapiObject } = document
  openapiObject.paths = firstPath(openapiObject.paths)
  for (const [path, item] of Object.entries(openapiObject.paths ?? {}))
    for (const method of methods) {
      const operation = item?.[method]
      if (!operation) continue
      for (const parameter of operation.parameters ?? []) {
        if (!('in' in parameter) || !parameter.required) continue
        const example = parameterOf(parameter.name, path)
        if (example !== undefined) parameter.example = example
      }
      const { requestBody } = operation
      const example = bodyOf(method, path)
      if (!example || !requestBody || !('content' in requestBody)) continue
      const json = requestBody.content['application/json']
      if (json) json.example = example
    }
  return openapiObject
}
