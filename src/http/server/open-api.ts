import { createHash } from 'node:crypto'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance, FastifyPluginCallback } from 'fastify'
import { createJsonSchemaTransform } from 'fastify-type-provider-zod'
import { z } from 'zod'
import { docsPage } from '../pages/docs-page.ts'
import { jsonLine } from '../wire/json-line.ts'
import { withExamples } from './examples.ts'
import { groups, introduction } from './groups.ts'
import type { RouteRules } from './route-rules.ts'

/** /docs loads everything from this server, and no other page may frame it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // The one style element that swagger-ui makes itself, by its content.
  "style-src 'self' 'sha256-RL3ie0nH+Lzz2YNqQN83mnU0J1ot4QL7b99vMdIX99w='",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

type Override = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>

/**
 * Corrects generated schemas: shows defaults of values that are parsed from text, drops bounds that
 * every integer has, and gives empty answers no content.
 */
const override: Override = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod
  if (def.type === 'default') jsonSchema.default = def.defaultValue
  if (def.type === 'undefined') jsonSchema.type = 'null'
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format) delete jsonSchema.pattern
}

const transform = createJsonSchemaTransform({ zodToJsonConfig: { override } })

const stream = { schema: { type: 'string', description: 'id: and data: lines, then [DONE]' } }

const lines = { schema: { type: 'string', description: 'One JSON document a line' } }

const answers = z.record(z.string(), z.looseObject({ description: z.string().default('') }))
type Answers = z.infer<typeof answers>

/** The 200 of a route that answers with a stream, always or on request. */
const streaming = (all: Answers, rules: Pick<RouteRules, 'streams' | 'lines'>): Answers => {
  const { '200': success, ...others } = all
  const { description = '', ...schema } = success ?? {}
  const content = {
    ...(rules.streams === 'always' ? {} : { 'application/json': { schema } }),
    ...(rules.lines ? { 'application/x-ndjson': lines } : {}),
    ...(rules.streams ? { 'text/event-stream': stream } : {}),
  }
  return { ...others, '200': { description, content } }
}

/** The document, written once: all answers share its bytes. */
const documentRoute: FastifyPluginCallback = (http, _options, done) => {
  let rendered: { bytes: Buffer; etag: string } | undefined
  const document = () => {
    const bytes = Buffer.from(jsonLine(http.swagger()))
    const hash = createHash('sha256').update(bytes).digest('base64url')
    return { bytes, etag: `"${hash}"` }
  }
  http.get('/api/openapi.json', { schema: { hide: true } }, async ({ headers }, reply) => {
    rendered ??= document()
    const { bytes, etag } = rendered
    reply.headers({ etag, 'cache-control': 'no-cache' })
    if (headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/json; charset=utf-8').send(bytes)
  })
  done()
}

/** `/api/openapi.json` (OpenAPI 3.1, from the routes' schemas) and `/docs`. */
export const openApi = async (http: FastifyInstance, version: string): Promise<void> => {
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reprise',
        version,
        description: introduction,
        license: { name: 'MIT', identifier: 'MIT' },
      },
      tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
      security: [{ apiKey: [] }, { bearer: [] }, { console: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' },
          console: { type: 'apiKey', in: 'cookie', name: 'reprise_session' },
        },
      },
    },
    transformObject: withExamples,
    transform: (document) => {
      const { schema, url } = transform(document)
      const { config = {} } = document.route
      if (!config.streams && !config.lines) return { schema, url }
      return {
        schema: { ...schema, response: streaming(answers.parse(schema.response), config) },
        url,
      }
    },
  })
  await http.register(swaggerUi, { routePrefix: '/docs', staticCSP: policy, ...docsPage })
  await http.register(documentRoute)
}
