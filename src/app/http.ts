import { readFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyPluginAsync } from 'fastify'
import type { CountWaitingRuns } from '../../queries/count-waiting-runs.ts'
import type { ListUnreadable } from '../../queries/list-unreadable.ts'
import type { Config } from '../config.ts'
import type { Admit } from '../http/checks/admission.ts'
import { boundConnection } from '../http/checks/connection-bounds.ts'
import { requireHttps } from '../http/checks/https.ts'
import type { IdempotencyUses } from '../http/checks/idempotency.ts'
import { healthRoutes, type Readiness } from '../http/routes/health.ts'
import { homeRoutes } from '../http/routes/home.ts'
import { metricsRoutes } from '../http/routes/metrics.ts'
import { wsChatRoutes } from '../http/routes/ws-chat.ts'
import { limitConnections } from '../http/server/connection-limit.ts'
import { processMetrics } from '../http/server/metrics.ts'
import { server } from '../http/server/server.ts'
import type { WorkMetrics } from '../http/server/work-metrics.ts'
import type { Upload } from '../http/ws/answers.ts'
import type { SocketTimes } from '../http/ws/connection.ts'
import type { KeyUsageMeter } from '../metering/key-usage-meter.ts'
import type { RefusalMeter } from '../metering/refusal-meter.ts'
import type { Clock } from '../ports/clock.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Projector } from '../projector/projector.ts'
import type { FindAccess } from '../security/access.ts'
import type { Delegate } from '../security/delegate.ts'
import type { WatchAccess } from '../security/watch-access.ts'
import type { BufferBudget } from '../support/buffer-budget.ts'
import type { BeginTurn } from '../turns/begin/begin-turn.ts'
import type { Turns } from '../turns/run/turns.ts'
import type { Stores } from './stores.ts'

/** Of this release. */
export const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

/**
 * How long runs may continue once the process stops, and how long sending their answers may take.
 */
const drainMs = 7_000
const flushMs = 1_000

/** Routes by the path that they are mounted at. */
type Routes = Readonly<Record<string, readonly FastifyPluginAsync[]>>

type Uses = {
  config: Pick<Config, 'CORS_ORIGINS' | 'TRUST_PROXY' | 'REQUIRE_HTTPS' | 'TLS_CERT' | 'TLS_KEY'>
  stores: Pick<Stores, 'events' | 'foreignEvents' | 'space'>
  lag: Projector['lag']
  laterLag: Projector['lag']
  unreadable: ListUnreadable
  readiness(): Promise<Readiness>
  findAccess: FindAccess
  watchAccess: WatchAccess
  admit: Admit
  counted: KeyUsageMeter['count']
  refused: RefusalMeter['refused']
  delegate: Delegate
  idempotency: IdempotencyUses
  keepAliveMs: number
  mostConnections: number | undefined
  buffers: BufferBudget
  turns: Pick<Turns, 'drain' | 'running'>
  waitingRuns: CountWaitingRuns
  beginTurn: BeginTurn
  socketUpload: Upload
  socketTimes: Partial<SocketTimes> | undefined
  logLinesDropped(): number
  work: Pick<WorkMetrics, 'registry' | 'refused'>
  telemetry: Telemetry | undefined
  endFeeds(): void
  /** Under a key. */
  routes: Routes
  /** Without a key. */
  openRoutes: readonly FastifyPluginAsync[]
  clock: Clock
  log: FastifyBaseLogger
}

/** The HTTP server with all its routes. It does not listen yet. @throws ConfigInvalid */
export const openHttp = async (uses: Uses) => {
  const { config, stores, readiness, findAccess, watchAccess, admit, counted, refused, turns } =
    uses
  const { clock, log } = uses
  let connections: ReturnType<typeof limitConnections> | undefined
  const metrics = processMetrics({
    registry: uses.work.registry,
    head: stores.events.head,
    lag: uses.lag,
    laterLag: uses.laterLag,
    unreadable: uses.unreadable,
    running: () => turns.running,
    waitingRuns: uses.waitingRuns,
    foreignEvents: stores.foreignEvents,
    disk: stores.space.state,
    connectionsRefused: () => connections?.refused() ?? 0,
    logLinesDropped: uses.logLinesDropped,
    buffers: uses.buffers,
  })
  const bound = boundConnection(undefined, { buffers: uses.buffers })
  const http = await server({
    config,
    clock,
    log,
    version,
    findAccess,
    watchAccess,
    metrics,
    keepAliveMs: uses.keepAliveMs,
    boundConnection: bound,
    admit,
    counted,
    refused,
    countRefusal: uses.work.refused,
    telemetry: uses.telemetry,
    delegate: uses.delegate,
    idempotency: uses.idempotency,
    open: {
      '/api': [healthRoutes({ version, clock, readiness })],
      '': [
        homeRoutes,
        metricsRoutes(metrics),
        ...uses.openRoutes,
        wsChatRoutes({
          findAccess,
          watchAccess,
          admit,
          counted,
          refused,
          countRefusal: uses.work.refused,
          beginTurn: uses.beginTurn,
          upload: uses.socketUpload,
          boundConnection: bound,
          requireHttps: requireHttps(config.REQUIRE_HTTPS),
          times: uses.socketTimes,
          clock,
          telemetry: uses.telemetry,
        }),
      ],
    },
    routes: uses.routes,
  })
  connections = limitConnections(http, { most: uses.mostConnections, log })
  return {
    http,
    /**
     * Accepts no more requests, lets runs end or records them as cancelled, and sends their
     * answers.
     */
    async close(): Promise<void> {
      uses.endFeeds()
      const closing = http.close()
      await turns.drain(drainMs)
      await Promise.race([closing, after(flushMs, undefined, { ref: false })])
      http.server.closeAllConnections()
      await closing
    },
  }
}
