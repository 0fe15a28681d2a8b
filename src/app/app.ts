import { readFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { findAccess } from '../../queries/find-access.ts'
import { embedderFrom, type ModelsConfig, modelsFrom } from '../adapters/models/registry.ts'
import type { Config } from '../config.ts'
import { transactor } from '../event-sourcing/transactor.ts'
import { requireHttps } from '../http/checks/https.ts'
import { admission } from '../http/checks/limit.ts'
import { healthRoutes } from '../http/routes/health.ts'
import { metricsRoutes } from '../http/routes/metrics.ts'
import { wsChatRoutes } from '../http/routes/ws-chat.ts'
import { processMetrics } from '../http/server/metrics.ts'
import { server } from '../http/server/server.ts'
import { keepAliveMs as silenceMs } from '../http/streams/sse.ts'
import type { SocketTimes } from '../http/ws/connection.ts'
import type { Clock } from '../ports/clock.ts'
import { projector } from '../projector/projector.ts'
import { rebuildJobs } from '../projector/rebuild-jobs.ts'
import { closeOrphans, nodeLease } from '../reactors/close-orphans.ts'
import { keyUsageMeter } from '../reactors/meter-key-usage.ts'
import { refusalMeter } from '../reactors/meter-refusals.ts'
import { secretsOf } from '../security/secrets.ts'
import { vault as vaultOf } from '../security/vault.ts'
import { newId } from '../support/ids.ts'
import { adminOf } from './admin.ts'
import { auditOf } from './audit.ts'
import { chatOf } from './chat.ts'
import { commandsOf } from './commands.ts'
import { contentOf, type GenerationLimits } from './content.ts'
import { seedDemo } from './demo.ts'
import { knowledgeFrom } from './knowledge.ts'
import { provisioningOf } from './provisioning.ts'
import { projections, projectorLease, viewsOf } from './read-models.ts'
import { readiness } from './readiness.ts'
import { masterKeyOf, openStores } from './stores.ts'
import { toolsFrom } from './tools.ts'

const { version } = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
)

export const systemClock: Clock = { now: () => new Date(), id: newId }

type Options = {
  log: FastifyBaseLogger
  clock?: Clock
  /** How long a stream is silent before a comment line shows that it lives. */
  keepAliveMs?: number
  /** How long clients on sockets are waited for. */
  socketTimes?: Partial<SocketTimes>
  /** How long model providers are waited for. */
  transport?: ModelsConfig['transport']
  /** How often generation is looked at, and what of it is taken. */
  generation?: GenerationLimits
}

/** How long a command's answer waits for the views to show it (read your own writes). */
const visibleWithinMs = 2_000
/** How long runs may go on once the process is to stop, and how long their answers may take. */
const drainMs = 7_000
const flushMs = 1_000
/** How long a life sign lasts, and how often it is given. */
const nodeTtlMs = 10_000
const nodeRenewMs = 3_000

/**
 * The composition root: stores → commands → projections → queries → HTTP, wired once. Nothing
 * listens yet. @throws StoreInUse, StoreDamaged, ConfigInvalid
 */
export const app = async (config: Config, options: Options) => {
  const { log, clock = systemClock, keepAliveMs = silenceMs, transport, socketTimes } = options
  const node = clock.id()
  const masterKey = await masterKeyOf(config)
  const stores = await openStores(config, log)
  const { events, leases, sharedEvents, sharedViews } = stores
  const secrets = secretsOf(masterKey)
  const vault = vaultOf({ keys: stores.keys, wrap: secrets.wrap })
  const providers = {
    baseUrl: config.LLM_BASE_URL,
    apiKey: config.LLM_API_KEY,
    model: config.LLM_MODEL,
    providers: config.LLM_PROVIDERS,
    fallbacks: config.LLM_FALLBACKS,
    prices: config.LLM_PRICES,
    ...(transport ? { transport } : {}),
  }
  const models = modelsFrom(providers)
  const embedder = config.EMBEDDING_MODEL
    ? embedderFrom(providers, config.EMBEDDING_MODEL)
    : undefined

  const { snapshots } = stores
  const transacting = transactor({ store: events, snapshots, clock, shared: sharedEvents })
  const { transact } = transacting
  const commands = commandsOf({
    transactor: transacting,
    clock,
    secrets,
    vault,
    defaultModel: models.resolve(null).name,
  })

  const projecting = projector({
    store: events,
    views: stores.views,
    projections,
    log,
    ...(sharedViews ? { lease: { leases, name: projectorLease, holder: node } } : {}),
  })
  const views = await viewsOf(stores.views)
  await projecting.start()
  const rebuilding = rebuildJobs({
    store: events,
    views: stores.views,
    projections,
    projecting,
    log,
  })
  const { changes } = projecting
  const waitForPosition = async (position: number): Promise<void> => {
    if (await projecting.waitForPosition(position, visibleWithinMs)) return
    log.warn({ position }, 'the views did not follow a command in time')
  }

  const { open } = vault
  const { hashApiKey } = secrets
  const access = findAccess({
    ...views,
    changes,
    hashApiKey,
    superAdminKey: config.SUPER_ADMIN_KEY,
    now: () => clock.now().getTime(),
  })

  const content = contentOf({
    config,
    commands,
    contents: views.contents,
    changes,
    blobs: stores.blobs,
    vault,
    secrets,
    leases,
    clock,
    node,
    log,
    limits: options.generation,
  })
  const knowledge = knowledgeFrom({
    ...views,
    config,
    transact,
    commands,
    blobs: stores.blobs,
    waitForPosition,
    head: events.head,
    embedder,
    leases,
    clock,
    node,
    log,
  })
  const tools = toolsFrom({
    config,
    ...commands,
    ...views,
    open,
    clock,
    knowledge: knowledge.search,
    contentGeneration: content.generation,
  })
  const { turns, warmAgents, beginTurn, delegate, requireSubscription, ...chat } = chatOf({
    ...commands,
    ...views,
    changes,
    models,
    toolsOf: tools.toolsOf,
    vault,
    waitForPosition,
    clock,
    node,
    log,
  })

  const metrics = processMetrics({
    head: events.head,
    lag: projecting.lag,
    running: () => turns.running,
  })
  const { refused, ...refusals } = refusalMeter({ record: commands.recordRefusal, clock, log })
  const usage = keyUsageMeter({ record: commands.recordKeyUsage, clock, log })
  const orphans = closeOrphans({
    ...views,
    ...commands,
    leases,
    clock,
    node,
    isLive: turns.isRunning,
    stop: (runId) => turns.find(runId)?.cancel(),
    log,
  })

  const provisioning = provisioningOf({
    ...commands,
    ...views,
    open,
    secrets,
    turns,
    waitForPosition,
    head: events.head,
    clock,
    config,
  })

  const admin = adminOf({ ...commands, ...views, open, waitForPosition, rebuilding })
  const audit = auditOf({
    ...views,
    stores,
    projecting,
    secrets,
    open,
    findAccess: access.find,
    log,
  })

  const admit = admission(clock)

  const http: FastifyInstance = await server({
    config,
    clock,
    log,
    version,
    findAccess: access.find,
    metrics,
    keepAliveMs,
    admit,
    counted: usage.count,
    refused,
    idempotency: { answers: stores.answers, vault, clock, node },
    open: {
      '/api': [
        healthRoutes({
          version,
          clock,
          readiness: readiness({ events, views: stores.views, projecting }),
        }),
      ],
      '': [
        metricsRoutes(metrics),
        ...content.open,
        ...provisioning.open,
        wsChatRoutes({
          findAccess: access.find,
          admit,
          counted: usage.count,
          refused,
          beginTurn,
          upload: knowledge.upload(delegate),
          clock,
          requireHttps: requireHttps(config.REQUIRE_HTTPS),
          times: socketTimes,
        }),
      ],
    },
    routes: {
      ...chat.routes,
      '/api/external': [
        ...chat.routes['/api/external'],
        ...provisioning.keyed,
        ...knowledge.routes,
        ...content.keyed({ delegate, requireSubscription, waitForPosition }),
      ],
      '/api/admin': [...admin.routes, ...audit.routes],
      '/api/me': admin.own,
    },
  })

  const alive = () =>
    leases.acquire(nodeLease(node), node, nodeTtlMs).catch((err) => {
      log.warn({ err }, 'a life sign could not be given')
    })
  await alive()
  const living = setInterval(alive, nodeRenewMs).unref()

  /** The duties of every tick: ends what nobody ends, forgets old answers. */
  const tick = async (certain = false): Promise<void> => {
    await orphans({ certain })
    await stores.answers.sweep(clock.now())
    warmAgents.release()
    await content.reactor.sweep()
    await knowledge.reactor.sweep()
  }

  return {
    http,
    /** Resolves when the views show a position, or after a bounded wait. */
    visible: waitForPosition,
    /** Fills an empty store with the demo organization; its key, the one time that it is made. */
    async demo() {
      const { uploadFiles } = knowledge
      const uses = { ...secrets, ...commands, uploadFiles, store: events, transact, clock }
      const made = await seedDemo(uses)
      if (!made) return undefined
      await waitForPosition(made.position)
      knowledge.reactor.add(made.uploadIds)
      return made
    },
    /** Waits until the views show all there is, then ends what a dead process left behind. */
    async recover(): Promise<void> {
      await projecting.waitForPosition(await events.head(), 60_000)
      await knowledge.reactor.recover()
      await tick(!sharedEvents)
    },
    tick,
    /** Stops accepting, lets runs end or records them as cancelled, writes what is pending. */
    async close(): Promise<void> {
      audit.close()
      const closing = http.close()
      await turns.drain(drainMs)
      await Promise.race([closing, after(flushMs, undefined, { ref: false })])
      http.server.closeAllConnections()
      await closing
      await content.reactor.stop()
      await knowledge.reactor.stop()
      await usage.close()
      await refusals.close()
      clearInterval(living)
      await leases.release(nodeLease(node), node)
      access.close()
      chat.close()
      await projecting.stop()
      await rebuilding.ended()
      await tools.close()
      await models.close()
      await embedder?.close()
      await stores.close()
    },
  }
}

export type App = Awaited<ReturnType<typeof app>>
