import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { jsonSchemaTransform } from 'fastify-type-provider-zod'

/** The contract in the open: `/api/openapi.json` (3.1, from the routes' schemas) and `/docs`. */
export const openApi = async (http: FastifyInstance, version: string): Promise<void> => {
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Reprise',
        version,
        description: 'A multi-tenant multi-agent AI platform whose every fact is an event.',
        license: { name: 'MIT', identifier: 'MIT' },
      },
      security: [{ apiKey: [] }, { bearer: [] }],
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    transform: jsonSchemaTransform,
  })
  await http.register(swaggerUi, { routePrefix: '/docs', staticCSP: true })
  http.get('/api/openapi.json', { schema: { hide: true } }, async () => http.swagger())
}
