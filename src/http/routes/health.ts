import type { FastifyPluginAsyncZod } from 'fastify-type-provider-zod'
import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'

const check = z.object({ ok: z.boolean(), detail: z.string().optional() })
export type Check = z.infer<typeof check>
/** Whether the process can serve, and the result of each check. */
export type Readiness = { ready: boolean; checks: Record<string, Check> }

/** Status of a process that can serve. */
const statusOf = (checks: Readiness['checks']): string => {
  if (checks.damage?.ok === false) return 'damaged'
  return checks.unreadable_events?.ok === false ? 'degraded' : 'ok'
}

type Uses = { version: string; clock: Clock; readiness(): Promise<Readiness> }

/**
 * GET /api/health (docs/contract/requests.md#versions), and the readiness of stores and
 * projections.
 */
export const healthRoutes =
  ({ version, clock, readiness }: Uses): FastifyPluginAsyncZod =>
  async (http) => {
    const tags = ['health']
    const base = z.object({ status: z.string(), version: z.string(), timestamp: z.iso.datetime() })
    const checked = base.extend({ checks: z.record(z.string(), check) })

    http.get(
      '/health',
      { schema: { tags, summary: 'Check that the process answers', response: { 200: base } } },
      async () => ({ status: 'ok', version, timestamp: clock.now().toISOString() }),
    )

    http.get(
      '/health/ready',
      {
        schema: {
          tags,
          summary: 'Check that the stores answer and the projections run',
          response: { 200: checked, 503: checked },
        },
      },
      async (_request, reply) => {
        const { ready, checks } = await readiness()
        if (!ready) reply.code(503).header('x-error-code', 'service_unavailable')
        const timestamp = clock.now().toISOString()
        const status = ready ? statusOf(checks) : 'unavailable'
        return { status, version, timestamp, checks }
      },
    )
  }
