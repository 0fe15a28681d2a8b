import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyPluginAsync,
  LogController,
  type RouteHandlerMethod,
} from 'fastify'
import type { Config } from '../../config.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Telemetry } from '../../ports/telemetry.ts'
import type { Access, FindAccess } from '../../security/access.ts'
import type { Delegate } from '../../security/delegate.ts'
import type { WatchAccess } from '../../security/watch-access.ts'
import './route-rules.ts'
import type { Admit } from '../checks/admission.ts'
import { bodyRoom, forgetBody } from '../checks/body-room.ts'
import type { BoundConnection } from '../checks/connection-bounds.ts'
import { allowOrigins } from '../checks/cors.ts'
import { delegation } from '../checks/delegation.ts'
import { tlsFrom } from '../checks/https.ts'
import { type IdempotencyUses, idempotency } from '../checks/idempotency.ts'
import { orderOfChecks } from '../checks/order.ts'
import type { OwnPage } from '../checks/own-page.ts'
import { parseJson, validatorCompiler } from '../checks/validate.ts'
import { refuseConnection } from '../errors/client-error.ts'
import { noteRefused, type Refusing } from '../errors/noted.ts'
import { replyWith } from '../errors/reply.ts'
import { unknownRoute } from '../errors/unknown-route.ts'
import { jsonLine } from '../wire/json-line.ts'
import { boundedServer } from './bounded-server.ts'
import { decodable } from './decodable-url.ts'
import type { Metrics } from './metrics.ts'
import { openApi } from './open-api.ts'
import { hasManyParameters, mostParameters, parseQuery } from './query-string.ts'
import { traceRequests } from './trace-requests.ts'

/** Request payload limit (docs/contract/limits.md#sizes), in bytes. */
const bodyLimit = 10 * 1024 * 1024
/** How long a request may take to arrive; its answer may take longer. */
const requestTimeout = 300_000
/** Longer than proxies keep idle connections, which would otherwise use one that is closing. */
const keepAliveTimeout = 72_000
/**
 * Paths may be as long as node accepts them; ids that are too long are refused by their schemas.
 */
const maxParamLength = 16_384

type Options = {
  config: Pick<Config, 'CORS_ORIGINS' | 'TRUST_PROXY' | 'REQUIRE_HTTPS' | 'TLS_CERT' | 'TLS_KEY'>
  clock: Clock
  log: FastifyBaseLogger
  version: string
  findAccess: FindAccess
  watchAccess: WatchAccess
  metrics: Metrics
  /** Undefined: nothing is traced. */
  telemetry: Telemetry | undefined
  admit: Admit
  requireOwnPage: OwnPage['requireOwnPage']
  /** Called for every request that passed authentication and limits. */
  counted(access: Access): void
  /** Called for every refusal to a known key. */
  refused: Refusing['refused']
  /** Called with the code of every refusal. */
  countRefusal: Refusing['countRefusal']
  idempotency: IdempotencyUses
  delegate: Delegate
  keepAliveMs: number
  /** Comes before all other checks of a request. */
  boundConnection: BoundConnection
  /** Routes under a key, by the path they are mounted at. */
  routes: Readonly<Record<string, readonly FastifyPluginAsync[]>>
  /** Routes that need no key. */
  open: Readonly<Record<string, readonly FastifyPluginAsync[]>>
}

/**
 * fastify looks for the name of a plugin that has none among all modules that were ever required.
 */
const named = (plugin: FastifyPluginAsync, name: string): FastifyPluginAsync =>
  Object.assign(plugin, { [Symbol.for('fastify.display-name')]: name })

const tooManyParameters = () =>
  refusal('too_complex', { message: `A query has at most ${mostParameters} parameters` })

const saneId = /^[\w.:-]{1,128}$/

const requestId = (clock: Clock) => (raw: { headers: Record<string, unknown> }) => {
  const own = raw.headers['x-request-id']
  return typeof own === 'string' && saneId.test(own) ? own : clock.id()
}

const bareServer = (options: Options): FastifyInstance => {
  const { config, clock, log, boundConnection } = options
  const tls = tlsFrom(config)
  return Fastify({
    serverFactory: boundedServer({ tls, requestTimeout, keepAliveTimeout, boundConnection }),
    ...(tls ? { https: tls } : {}),
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: config.TRUST_PROXY,
    bodyLimit,
    genReqId: requestId(clock),
    rewriteUrl: decodable,
    clientErrorHandler: refuseConnection(clock.id),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength, querystringParser: parseQuery },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
  })
}

const setBodies = (http: FastifyInstance, options: Options): void => {
  http.setValidatorCompiler(validatorCompiler)
  http.setSerializerCompiler(() => jsonLine)
  http.setReplySerializer(jsonLine)
  http.setErrorHandler((error, request, reply) =>
    replyWith(request, reply, error, (refusal) => noteRefused(options, request, refusal)),
  )
  parseJson(http)
}

/** The fields of requests, declared in advance so that all requests have one shape. */
const declareFields = (http: FastifyInstance, options: Options): void => {
  http.decorate('keepAliveMs', options.keepAliveMs)
  http.decorate('watchAccess', options.watchAccess)
  http.decorateRequest('call')
  http.decorateRequest('access')
  http.decorateRequest('needed')
  http.decorateRequest('trace')
  http.decorateRequest('span')
  http.decorateRequest('enterRoom')
  http.decorateRequest('leaveRoom')
  http.decorateRequest('forgetBody', forgetBody)
}

/** Sets the headers of every answer; refuses requests while closing, and those of no valid form. */
const checkForm = (http: FastifyInstance): void => {
  let closing = false
  http.addHook('preClose', (done) => {
    closing = true
    done()
  })
  http.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('cache-control', 'no-store')
    const hostless = request.raw.httpVersion === '1.1' && !('host' in request.headers)
    if (closing) done(refusal('service_unavailable'))
    else if (hasManyParameters(request.raw.url ?? '')) done(tooManyParameters())
    else done(hostless ? refusal('malformed_request') : undefined)
  })
}

const logRequests = (http: FastifyInstance, metrics: Metrics): void => {
  http.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions, log, call } = request
    const route = routeOptions.url ?? 'unknown'
    const ms = reply.elapsedTime
    metrics.observe(method, route, reply.statusCode, ms / 1000)
    const { organizationId, keyId } = call ?? {}
    const fields = { method, route, status: reply.statusCode, ms, organizationId, keyId }
    log.info(fields, 'request')
    done()
  })
}

const mount = (http: FastifyInstance, routes: Options['routes']): void => {
  for (const [prefix, plugins] of Object.entries(routes))
    for (const plugin of plugins) http.register(named(plugin, prefix), { prefix })
}

/** Routes that need no key. */
const mountOpen = (http: FastifyInstance, { open }: Options): void => {
  http.register(async (keyless) => {
    keyless.addHook('onRoute', ({ schema }) => {
      if (schema) schema.security ??= []
    })
    mount(keyless, open)
  })
}

/** Routes under a key, with the checks that all of them share. */
const mountKeyed = (
  http: FastifyInstance,
  options: Options,
  notFound: RouteHandlerMethod,
): void => {
  const { config, findAccess, admit, requireOwnPage, counted, clock } = options
  const httpsMode = config.REQUIRE_HTTPS
  const checks = orderOfChecks({ httpsMode, findAccess, admit, requireOwnPage, counted, clock })
  http.register(async (keyed) => {
    keyed.addHook('onRequest', checks)
    keyed.addHook('preParsing', bodyRoom())
    delegation(keyed, options.delegate)
    idempotency(keyed, options.idempotency)
    mount(keyed, options.routes)
  })
  // Unknown paths below /api/external need a key too.
  http.register(
    async (external) => {
      external.addHook('onRequest', checks)
      external.setNotFoundHandler(notFound)
    },
    { prefix: '/api/external' },
  )
}

/**
 * The HTTP server: one order of checks for every route under a key
 * (docs/contract/requests.md#order-of-checks), and one place where refusals become answers. It is
 * given its routes.
 */
export const server = async (options: Options): Promise<FastifyInstance> => {
  const http = bareServer(options)
  setBodies(http, options)
  declareFields(http, options)
  // Before any route is registered: it remembers them.
  const notFound = unknownRoute(http)
  if (options.telemetry) traceRequests(http, options.telemetry)
  checkForm(http)
  await allowOrigins(http, options.config.CORS_ORIGINS)
  logRequests(http, options.metrics)
  http.setNotFoundHandler(notFound)
  await openApi(http, options.version)
  mountOpen(http, options)
  mountKeyed(http, options, notFound)
  return http
}
