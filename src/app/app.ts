import type { FastifyBaseLogger } from 'fastify'
import type { ModelsConfig } from '../adapters/models/registry.ts'
import { configuredModels } from '../adapters/models/registry.ts'
import type { Config } from '../config.ts'
import { appendTimes } from '../event-sourcing/append-times.ts'
import { consentedHosts } from '../event-sourcing/consented-hosts.ts'
import { findRequestId } from '../event-sourcing/find-request-id.ts'
import { workMetrics } from '../http/server/work-metrics.ts'
import { keepAliveMs as silenceMs } from '../http/streams/sse.ts'
import type { SocketTimes } from '../http/ws/connection.ts'
import { keyUsageMeter } from '../metering/key-usage-meter.ts'
import { readMeter } from '../metering/read-meter.ts'
import { refusalMeter } from '../metering/refusal-meter.ts'
import type { Clock } from '../ports/clock.ts'
import type { StoreDamaged } from '../ports/event-store.ts'
import { watchedKeys } from '../security/watched-keys.ts'
import { bufferBudget } from '../support/buffer-budget.ts'
import { opening } from '../support/disposal.ts'
import { jsonSchemas } from '../tools/json-schemas.ts'
import { accessPart } from './access.ts'
import { adminPart } from './admin.ts'
import { approvalWatch } from './approval-watch.ts'
import { auditPart } from './audit.ts'
import { assertRestored } from './backup/into-empty.ts'
import { bufferBytes } from './buffer-bytes.ts'
import { chatPart } from './chat.ts'
import { checkKeys, isEmptyStore } from './check-keys.ts'
import { warnOfClock } from './clock-check.ts'
import { contentPart, type GenerationLimits } from './content.ts'
import { seedDemo } from './demo.ts'
import { connectionLimit } from './handle-limit.ts'
import { housekeeping } from './housekeeping.ts'
import { openHttp, version } from './http.ts'
import { knowledgePart } from './knowledge.ts'
import { masterKeyOf } from './master-key.ts'
import { modelsConfigOf, openModels } from './models.ts'
import { openNodeLease } from './node-lease.ts'
import { openMasterKey } from './open-master-key.ts'
import { openOutageWatch } from './outage-watch.ts'
import { openParts } from './parts.ts'
import { provisioningPart } from './provisioning.ts'
import { openReadSide } from './read-side.ts'
import { readYourWrites } from './read-your-writes.ts'
import { openReadiness } from './readiness.ts'
import { routeCommandsOf } from './route-commands.ts'
import { openStores } from './stores.ts'
import { systemClock } from './system-clock.ts'
import { openTelemetry } from './telemetry.ts'
import { openTools } from './tools.ts'
import type { StoreWait } from './wait-for-store.ts'
import { writeSide } from './write-side.ts'

type Options = {
  log: FastifyBaseLogger
  /** How many log lines could not be written. */
  logLinesDropped?: () => number
  clock?: Clock
  /** How long a stream is silent before a comment line keeps it alive. */
  keepAliveMs?: number
  /** How long clients on sockets are waited for. */
  socketTimes?: Partial<SocketTimes>
  /** How often the rights of streams and sockets are looked at. */
  rightsLookMs?: number
  /** How long model providers are waited for. */
  transport?: ModelsConfig['transport']
  /** How often a generation is polled, and how large its files may be. */
  generation?: GenerationLimits
  /** Hosts that files of messages may be fetched from although they are private, for tests. */
  privateHosts?: readonly string[]
  /** How long databases are waited for at the start. */
  storeWait?: StoreWait
  /** Told of a damaged page of the embedded log that is found after the start. */
  onDamaged?(error: StoreDamaged): void
  /** Positions that the embedded log leaves out before each append, for tests. */
  positionGap?: number
  /**
   * Whether what is folded later is folded and read in a process of its own, where stores are
   * embedded.
   */
  laterApart?: boolean
}

/** How long the first start waits until the demo's document can be found. */
const indexedWithinMs = 10_000

/**
 * The composition root: stores → commands → projections → queries → HTTP, wired once, and closed in
 * reverse. Nothing listens yet.
 * @throws StoreInUse, StoreFormat, StoreDamaged, StoreUnavailable, KeysMismatch, ConfigInvalid,
 * ModelMisconfigured
 */
export const app = (config: Config, options: Options) =>
  opening(async (opened) => {
    const { log, clock = systemClock, keepAliveMs = silenceMs, generation = {} } = options
    const node = clock.id()
    const work = workMetrics(configuredModels(modelsConfigOf(config)))
    const buffers = bufferBudget(bufferBytes())
    const { telemetry } = opened.use(await openTelemetry({ config, metricsNow: work.now, version }))

    assertRestored(config.DATA_DIR)
    const masterKey = await masterKeyOf(config)
    const { storeWait, positionGap = 0, rightsLookMs, laterApart = true, onDamaged } = options
    const bare = opened.use(
      await openStores(config, log, {
        ...storeWait,
        positionGap,
        laterApart,
        clock,
        ...(onDamaged && { onDamaged }),
      }),
    )
    const times = appendTimes(clock)
    await times.resume(bare.events)
    warnOfClock(times.aheadMs(), log)
    const watched = watchedKeys(bare.keys)
    const stores = { ...bare, events: times.noting(bare.events), keys: watched.keys }
    const { events, answers, undelivered, leases } = stores
    const { head } = events
    const { master, rotation } = opened.use(await openMasterKey({ config, masterKey, stores, log }))
    opened.use(await openNodeLease({ leases, node, log }))
    const { models, embedder } = opened.use(
      await openModels({ config, transport: options.transport, log }),
    )

    const { modelFault } = models
    const writing = writeSide({ stores, master, clock, times, modelFault, telemetry, log })
    const { secrets, vault, blobs, load, commands } = writing
    await checkKeys({
      events,
      keys: stores.keys,
      vault,
      registerKeys: commands.registerKeys,
      clock,
    })
    const { open } = vault

    const reading = opened.use(
      await openReadSide({
        stores,
        dataDir: config.DATA_DIR,
        master,
        logKeySeed: secrets.logKeySeed,
        open,
        timePassed: times.passed,
        node,
        clock,
        log,
        telemetry,
      }),
    )
    watched.onDestroyed(reading.later.forget)
    const { views, projecting, changes, rebuilding, waitForPosition } = reading
    const writes = readYourWrites({ waitForPosition, head })
    const routeCommands = routeCommandsOf(commands, writes)

    const access = opened.use(
      accessPart({
        config,
        views,
        changes,
        sharedViews: stores.sharedViews,
        hashApiKey: secrets.hashApiKey,
        clock,
        rightsLookMs,
      }),
    )
    const { findAccess, watchAccess, admit, delegate, requireSubscription, storage } = access
    const keyUsage = opened.use(keyUsageMeter({ record: commands.recordKeyUsage, clock, log }))
    const reads = opened.use(readMeter({ record: commands.recordMessageRead, clock, log }))
    const refusals = opened.use(refusalMeter({ record: commands.recordRefusal, clock, log }))

    const requestIds = findRequestId({ read: events.read })
    const content = opened.use(
      contentPart({
        config,
        commands,
        routeCommands,
        views,
        changes,
        requireSubscription,
        storage,
        waitForPosition,
        head,
        blobs,
        vault,
        linkKey: secrets.links,
        leases,
        findRequestId: requestIds,
        clock,
        node,
        log,
        limits: generation,
      }),
    )
    const knowledge = opened.use(
      await knowledgePart({
        config,
        space: stores.space,
        commands,
        routeCommands,
        views,
        delegate,
        storage,
        blobs,
        waitForPosition,
        head,
        embedder,
        leases,
        findRequestId: requestIds,
        clock,
        node,
        log,
      }),
    )
    work.queue('uploads', knowledge.queued)
    work.queue('contents', content.queued)
    const hostsOf = consentedHosts(events.read)
    const schemas = opened.use(jsonSchemas())
    const { toolsOf, mcp, addressFault } = opened.use(
      await openTools({
        config,
        remember: commands.remember,
        views,
        open,
        hostsOf,
        misfitOf: schemas.misfitOf,
        clock,
        knowledge: knowledge.search,
        contentGeneration: content.generation,
      }),
    )
    const { receiveParts } = opened.use(
      await openParts({ config, space: stores.space, privateHosts: options.privateHosts ?? [] }),
    )
    const approvals = approvalWatch({ expire: () => expireApprovals(), clock, log })
    const chat = opened.use(
      chatPart({
        config,
        commands,
        routeCommands,
        writes,
        views,
        changes,
        sharedViews: stores.sharedViews,
        delegate,
        requireSubscription,
        storage,
        models,
        toolsOf,
        schemas,
        vault,
        blobs,
        receiveParts,
        linksOf: content.linksOf,
        eraseContents: content.eraseContents,
        waitForPosition,
        undelivered,
        hashRequest: secrets.hashRequest,
        head,
        read: events.read,
        findRequestId: requestIds,
        load,
        refused: refusals.refused,
        messagesRead: reads.messagesRead,
        watchApproval: approvals.watch,
        work,
        telemetry,
        leases,
        clock,
        node,
        version,
        log,
      }),
    )
    work.queue('runs', chat.turns.queued)
    const { turns, beginTurn, warmAgents, forkSessions, eraseSessions } = chat
    const provisioning = provisioningPart({
      config,
      commands,
      routeCommands,
      views,
      findAgents: chat.findAgents,
      secrets,
      open,
      hostsOf,
      eraseSessions,
      clock,
    })
    const admin = adminPart({
      commands: routeCommands,
      views,
      open,
      hashSubject: secrets.hashSubject,
      writes,
      rebuilding,
      rotation,
      storage,
      schemaFault: schemas.faultOf,
      addressFault,
      mcp,
    })
    const audit = auditPart({
      events,
      documents: reading.documents,
      organizations: views.organizations,
      reads: reading.later.reads,
      projecting,
      logKeySeed: secrets.logKeySeed,
      open,
      buffers,
      log,
    })

    const { readiness } = opened.use(
      openReadiness({
        events,
        views: stores.views,
        prompt: reading.prompt,
        later: reading.later.projecting,
        failingSince: writing.failingSince,
        unreadable: reading.unreadable,
        damage: () => [...stores.damage(), ...reading.later.damage()],
        aheadMs: times.aheadMs,
        disk: stores.space.state,
      }),
    )
    opened.use(
      openOutageWatch({
        failingSince: writing.failingSince,
        recordOutage: commands.recordOutage,
        clock,
        log,
      }),
    )
    const { http } = opened.use(
      await openHttp({
        config,
        stores,
        lag: reading.prompt.lag,
        laterLag: reading.later.projecting.lag,
        unreadable: reading.unreadable,
        readiness,
        findAccess,
        watchAccess,
        admit,
        counted: keyUsage.count,
        refused: refusals.refused,
        delegate,
        idempotency: { answers, vault, clock, node },
        keepAliveMs,
        mostConnections: connectionLimit(),
        buffers,
        turns,
        waitingRuns: chat.waitingRuns,
        beginTurn,
        socketUpload: knowledge.socketUpload,
        socketTimes: options.socketTimes,
        work,
        telemetry,
        logLinesDropped: options.logLinesDropped ?? (() => 0),
        endFeeds: audit.endFeeds,
        routes: {
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
        },
        openRoutes: [...content.openRoutes, ...provisioning.openRoutes],
        clock,
        log,
      }),
    )

    // Before the turns under way are waited for.
    opened.add(chat.orphanRuns.stop)
    opened.add(approvals.stop)
    const { tick, recover, expireApprovals } = housekeeping({
      commands,
      views,
      stores,
      projecting,
      turns,
      resumeOrClose: chat.resumeOrClose,
      orphanRuns: chat.orphanRuns,
      namesOf: chat.namesOf,
      forkSessions,
      warmAgents,
      answers,
      undelivered,
      content,
      knowledge,
      leases,
      rebuildOld: reading.rebuildOld,
      refreshMasterKeys: master.refresh,
      clock,
      node,
      log,
    })

    return {
      http,
      waitForPosition,
      /** The model of agents that name none. */
      defaultModel: models.byDefault,
      /**
       * Fills an empty store with the demo organization. Answers its key, only when it has just
       * been created; its document can be found by then, unless that takes too long.
       */
      async demo() {
        const made = await seedDemo({
          isEmptyStore: () => isEmptyStore(events),
          load,
          clock,
          hashEmail: secrets.hashEmail,
          createOrganization: commands.createOrganization,
          createAgent: commands.createAgent,
          changeAgent: commands.changeAgent,
          createApiKey: commands.createApiKey,
          createDatastore: commands.createDatastore,
          uploadAndEnqueue: knowledge.uploadAndEnqueue,
        })
        if (made) await waitForPosition(made.position)
        if (made) await knowledge.indexed(indexedWithinMs)
        return made
      },
      async recover() {
        await recover()
        approvals.start()
      },
      tick,
    }
  })

export type App = Awaited<ReturnType<typeof app>>
