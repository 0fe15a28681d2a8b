import type { FastifyPluginAsync } from 'fastify'
import type { Metrics } from '../server/metrics.ts'

/** GET /metrics, in Prometheus' text format. */
export const metricsRoutes =
  (metrics: Metrics): FastifyPluginAsync =>
  async (http) => {
    http.get('/metrics', { schema: { hide: true } }, async (_request, reply) => {
      reply.type(metrics.contentType)
      return metrics.text()
    })
  }
