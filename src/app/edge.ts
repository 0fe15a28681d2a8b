import { keepAliveMs as usualKeepAliveMs } from '../http/streams/sse.ts'
import { opening } from '../support/disposal.ts'
import type { Administration } from './administration.ts'
import { connectionLimit } from './handle-limit.ts'
import { openHttp } from './http.ts'
import { openOutageWatch } from './outage-watch.ts'
import { openReadiness } from './readiness.ts'
import type { Parts, TurnEngine } from './turn-engine.ts'

/** The routes under a key, by the path that they are mounted at. */
const routesOf = (
  { chat, knowledge, content }: TurnEngine,
  { provisioning, admin, audit }: Administration,
) => ({
  '/api/external/v1': chat.routes['/api/external/v1'],
  '': chat.routes[''],
  '/api/external': [
    ...chat.routes['/api/external'],
    ...provisioning.routes,
    admin.accountRoutes,
    ...knowledge.routes,
    ...content.routes,
  ],
  '/api/admin': [...admin.routes, ...audit.routes, ...chat.routes['/api/admin']],
  '/api/me': admin.ownRoutes,
})

const openHealth = ({ storage, writing, reading }: Parts) => {
  const { stores, times } = storage
  return openReadiness({
    events: stores.events,
    views: stores.views,
    prompt: reading.prompt,
    later: reading.later.projecting,
    failingSince: writing.failingSince,
    unreadable: reading.unreadable,
    damage: () => [...stores.damage(), ...reading.later.damage()],
    aheadMs: times.aheadMs,
    disk: stores.space.state,
  })
}

type Readiness = ReturnType<typeof openHealth>['readiness']

const openServer = (
  { host, storage, writing, reading, access, meters }: Parts,
  engine: TurnEngine,
  administration: Administration,
  readiness: Readiness,
) => {
  const { config, options, buffers, work, telemetry, node, clock, log } = host
  const { stores } = storage
  const { chat, knowledge, content } = engine
  const { findAccess, watchAccess, admit, delegate } = access
  return openHttp({
    config,
    stores,
    lag: reading.prompt.lag,
    laterLag: reading.later.projecting.lag,
    unreadable: reading.unreadable,
    readiness,
    findAccess,
    watchAccess,
    admit,
    counted: meters.keyUsage.count,
    refused: meters.refusals.refused,
    delegate,
    idempotency: { answers: stores.answers, vault: writing.vault, clock, node },
    keepAliveMs: options.keepAliveMs ?? usualKeepAliveMs,
    mostConnections: connectionLimit(),
    buffers,
    turns: chat.turns,
    waitingRuns: chat.waitingRuns,
    beginTurn: chat.beginTurn,
    socketUpload: knowledge.socketUpload,
    socketTimes: options.socketTimes,
    work,
    telemetry,
    logLinesDropped: options.logLinesDropped ?? (() => 0),
    endFeeds: administration.audit.endFeeds,
    routes: routesOf(engine, administration),
    openRoutes: [...content.openRoutes, ...administration.provisioning.openRoutes],
    clock,
    log,
  })
}

/** Readiness, the watch for outages, and the HTTP server. Nothing listens yet. */
export const openEdge = (parts: Parts, engine: TurnEngine, administration: Administration) =>
  opening(async (opened) => {
    const { clock, log } = parts.host
    const { failingSince, commands } = parts.writing
    const { readiness } = opened.use(openHealth(parts))
    const { recordOutage } = commands
    opened.use(openOutageWatch({ failingSince, recordOutage, clock, log }))
    const { http } = opened.use(await openServer(parts, engine, administration, readiness))
    // Before the turns under way are waited for.
    opened.add(engine.chat.orphanRuns.stop)
    opened.add(engine.approvals.stop)
    return { http }
  })
