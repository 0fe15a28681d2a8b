import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Span, Telemetry, TraceContext } from '../../ports/telemetry.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The trace that the request belongs to: of its own span, or as the client says. */
    trace: TraceContext | undefined
    span: Span | undefined
  }
}

const form =
  /^00-(?!0{32})(?<traceId>[0-9a-f]{32})-(?!0{16})(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})$/

/** The trace that a client's `traceparent` names. */
export const traceIn = ({ headers }: Pick<FastifyRequest, 'headers'>): TraceContext | undefined => {
  const { traceparent } = headers
  if (typeof traceparent !== 'string') return undefined
  const { traceId, spanId, flags = '0' } = traceparent.match(form)?.groups ?? {}
  if (!traceId || !spanId) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** A span for each request, from its arrival to the end of its answer. */
export const traceRequests = (http: FastifyInstance, { begin: beginSpan }: Telemetry): void => {
  http.addHook('onRequest', (request, _reply, done) => {
    const { method, routeOptions } = request
    const route = routeOptions.url ?? 'unknown'
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'url.scheme': request.protocol,
      'reprise.request_id': request.id,
    }
    const span = beginSpan(`${method} ${route}`, {
      kind: 'server',
      parent: traceIn(request),
      attributes,
    })
    request.span = span
    request.trace = span.context
    done()
  })
  http.addHook('onResponse', (request, reply, done) => {
    const { statusCode } = reply
    const { organizationId } = request.call ?? {}
    request.span?.end(
      {
        'http.response.status_code': statusCode,
        ...(organizationId ? { 'reprise.organization_id': organizationId } : {}),
      },
      statusCode >= 500 ? String(reply.getHeader('x-error-code') ?? statusCode) : undefined,
    )
    done()
  })
}
