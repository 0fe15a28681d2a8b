import { setTimeout as after } from 'node:timers/promises'
import { boundConnection } from '../http/checks/connection-bounds.ts'
import { requireHttps } from '../http/checks/https.ts'
import { healthRoutes, type Readiness } from '../http/routes/health.ts'
import { homeRoutes } from '../http/routes/home.ts'
import { metricsRoutes } from '../http/routes/metrics.ts'
import { wsChatRoutes } from '../http/routes/ws-chat.ts'
import { limitConnections } from '../http/server/connection-limit.ts'
import { processMetrics } from '../http/server/metrics.ts'
import { server } from '../http/server/server.ts'
import { keepAliveMs as usualKeepAliveMs } from '../http/streams/sse.ts'
import type { Administration } from './administration.ts'
import { connectionLimit } from './handle-limit.ts'
import type { Parts } from './parts.ts'
import type { TurnEngine } from './turn-engine.ts'
import { version } from './version.ts'

/**
 * How long runs may continue once the process stops, and how long sending their answers may take.
 */
const drainMs = 7_000
const flushMs = 1_000

type Uses = {
  parts: Parts
  engine: TurnEngine
  administration: Administration
  readiness(): Promise<Readiness>
}

/** The routes under a key, by the path that they are mounted at. */
const routesOf = (
  { chatRoutes, knowledge, content }: TurnEngine,
  { provisioning, admin, audit }: Administration,
) => ({
  '/api/external/v1': chatRoutes['/api/external/v1'],
  '': chatRoutes[''],
  '/api/external': [
    ...chatRoutes['/api/external'],
    ...provisioning.routes,
    admin.accountRoutes,
    ...knowledge.routes,
    ...content.routes,
  ],
  '/api/admin': [...admin.routes, ...audit.routes, ...chatRoutes['/api/admin']],
  '/api/me': admin.ownRoutes,
})

/** The HTTP server with all its routes. It does not listen yet. @throws ConfigInvalid */
export const openHttp = async ({ parts, engine, administration, readiness }: Uses) => {
  const { host, storage, writing, reading, access, meters } = parts
  const { config, options, buffers, work, telemetry, node, clock, log } = host
  const { answers, events, foreignEvents, space } = storage.stores
  const { findAccess, watchAccess, admit, ownPage, delegate } = access
  const { chat, knowledge, content } = engine
  const { turns, beginTurn, waitingRuns } = chat
  const { provisioning, audit, consoleRoutes } = administration
  const { count: counted } = meters.keyUsage
  const { refused } = meters.refusals
  let connections: ReturnType<typeof limitConnections> | undefined
  const metrics = processMetrics({
    registry: work.registry,
    head: events.head,
    lag: reading.prompt.lag,
    laterLag: reading.later.projecting.lag,
    unreadable: reading.unreadable,
    running: () => turns.running,
    waitingRuns,
    foreignEvents,
    disk: space.state,
    connectionsRefused: () => connections?.refused() ?? 0,
    logLinesDropped: options.logLinesDropped ?? (() => 0),
    buffers,
  })
  const bound = boundConnection(undefined, { buffers })
  const http = await server({
    config,
    clock,
    log,
    version,
    findAccess,
    watchAccess,
    metrics,
    keepAliveMs: options.keepAliveMs ?? usualKeepAliveMs,
    boundConnection: bound,
    admit,
    requireOwnPage: ownPage.requireOwnPage,
    counted,
    refused,
    countRefusal: work.refused,
    telemetry,
    delegate,
    idempotency: { answers, vault: writing.vault, clock, node },
    open: {
      '/api': [healthRoutes({ version, clock, readiness })],
      '': [
        homeRoutes,
        metricsRoutes(metrics),
        ...content.openRoutes,
        ...provisioning.openRoutes,
        ...consoleRoutes,
        wsChatRoutes({
          findAccess,
          watchAccess,
          admit,
          counted,
          refused,
          countRefusal: work.refused,
          beginTurn,
          upload: knowledge.socketUpload,
          boundConnection: bound,
          requireHttps: requireHttps(config.REQUIRE_HTTPS),
          requireOrigin: ownPage.requireOrigin,
          times: options.socketTimes,
          clock,
          telemetry,
        }),
      ],
    },
    routes: routesOf(engine, administration),
  })
  connections = limitConnections(http, { most: connectionLimit(), log })
  return {
    http,
    /**
     * Accepts no more requests, lets runs end or records them as cancelled, and sends their
     * answers.
     */
    async close(): Promise<void> {
      audit.endFeeds()
      const closing = http.close()
      await turns.drain(drainMs)
      await Promise.race([closing, after(flushMs, undefined, { ref: false })])
      http.server.closeAllConnections()
      await closing
    },
  }
}
