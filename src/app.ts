import { readFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { histories } from '../projections/histories.ts'
import { findAccess } from '../queries/find-access.ts'
import { findAnswer } from '../queries/find-answer.ts'
import { findBalance } from '../queries/find-balance.ts'
import { findMember } from '../queries/find-member.ts'
import { findPosition } from '../queries/find-position.ts'
import { findRepeatedRun } from '../queries/find-repeated-run.ts'
import { type FindSession, findSession } from '../queries/find-session.ts'
import { findSquad } from '../queries/find-squad.ts'
import { findState } from '../queries/find-state.ts'
import { getCheckpoint, getLogKey } from '../queries/get-checkpoint.ts'
import { getOrganization } from '../queries/get-organization.ts'
import { getUsage } from '../queries/get-usage.ts'
import { getAgent, listAgents, listWholeAgents } from '../queries/list-agents.ts'
import { getApiKey, listApiKeys, listUserKeys } from '../queries/list-api-keys.ts'
import { listEvents } from '../queries/list-events.ts'
import { getMember, listMembers } from '../queries/list-members.ts'
import { getMessage, listMessages } from '../queries/list-messages.ts'
import { listOrganizations } from '../queries/list-organizations.ts'
import { listSessions } from '../queries/list-sessions.ts'
import { listSquads } from '../queries/list-squads.ts'
import { opener } from '../queries/opened.ts'
import { proveConsistency, proveInclusion } from '../queries/prove-history.ts'
import { readHistory } from '../queries/read-history.ts'
import { exportLines, getEntries, getTile } from '../queries/read-leaves.ts'
import { readTree } from '../queries/read-tree.ts'
import { sessionStatus } from '../queries/session-status.ts'
import { embedderFrom, type ModelsConfig, modelsFrom } from './adapters/models/registry.ts'
import { agentRuntime } from './agents/agent-runtime.ts'
import { commandsOf } from './app-commands.ts'
import { contentOf, type GenerationLimits } from './app-content.ts'
import { knowledgeFrom } from './app-knowledge.ts'
import { provisioningOf } from './app-provisioning.ts'
import { projections, projectionsVersion, projectorLease, viewsOf } from './app-reads.ts'
import { masterKeyOf, openStores } from './app-stores.ts'
import { toolsFrom } from './app-tools.ts'
import type { Config } from './config.ts'
import { seedDemo } from './demo.ts'
import { feeds } from './feeds/feeds.ts'
import { turnBeginner } from './http/begin-turn.ts'
import { delegation } from './http/delegate.ts'
import { requireHttps } from './http/https.ts'
import { admission } from './http/limit.ts'
import { processMetrics } from './http/metrics.ts'
import { repeats } from './http/repeats.ts'
import { adminAgentRoutes } from './http/routes/admin-agents.ts'
import { adminApiKeyRoutes } from './http/routes/admin-api-keys.ts'
import { adminAuditRoutes } from './http/routes/admin-audit.ts'
import { adminFeedRoutes } from './http/routes/admin-feeds.ts'
import { adminHistoryRoutes } from './http/routes/admin-history.ts'
import { adminMemberRoutes } from './http/routes/admin-members.ts'
import { adminOrganizationRoutes } from './http/routes/admin-organizations.ts'
import { adminProjectionRoutes } from './http/routes/admin-projections.ts'
import { adminTransparencyRoutes } from './http/routes/admin-transparency.ts'
import { adminUserRoutes } from './http/routes/admin-users.ts'
import { agentCompletionRoutes } from './http/routes/agent-completions.ts'
import { agentRoutes } from './http/routes/agents.ts'
import { chatRoutes } from './http/routes/chat.ts'
import { healthRoutes } from './http/routes/health.ts'
import { instructionRoutes, squadRoutes } from './http/routes/management-agents.ts'
import { meApiKeyRoutes } from './http/routes/me-api-keys.ts'
import { metricsRoutes } from './http/routes/metrics.ts'
import { sessionTurnRoutes } from './http/routes/session-turns.ts'
import { sessionRoutes } from './http/routes/sessions.ts'
import { warmupRoutes } from './http/routes/warmup.ts'
import { wsChatRoutes } from './http/routes/ws-chat.ts'
import { server } from './http/server.ts'
import { keepAliveMs as silenceMs } from './http/sse.ts'
import { subscription } from './http/subscription.ts'
import type { SocketTimes } from './http/ws-line.ts'
import { newId } from './ids.ts'
import type { Clock } from './ports/clock.ts'
import { projector } from './project.ts'
import { closeOrphans, nodeLease } from './reactors/close-orphans.ts'
import { readiness } from './readiness.ts'
import { rebuilds } from './rebuilds.ts'
import { refusalMeter } from './refusal-meter.ts'
import { secretsOf } from './secrets.ts'
import { stateAt } from './state-at.ts'
import { transactor } from './transact.ts'
import { pastTurn } from './turns/past-turn.ts'
import { turns as turnsOf } from './turns/turns.ts'
import { warmAgents } from './turns/warm-agents.ts'
import { usageMeter } from './usage-meter.ts'
import { vault as vaultOf } from './vault.ts'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

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
  const rebuilding = rebuilds({
    store: events,
    views: stores.views,
    projections,
    projecting,
    log,
  })
  const { changes } = projecting
  const passed = async (position: number): Promise<void> => {
    if (await projecting.passed(position, visibleWithinMs)) return
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
  const squads = findSquad({ ...views, changes })
  const session: FindSession = async (one) => {
    await turns.shown(one)
    return findSession(views.sessions)(one)
  }
  const past = pastTurn(findAnswer({ ...views, open }))

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
    passed,
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
  const { toolsOf } = tools
  const warm = warmAgents({ findSquad: squads.find, toolsOf, models, clock })
  const turns = turnsOf({
    ...commands,
    runAgent: agentRuntime({ models, clock, toolsOf }),
    models,
    vault,
    clock,
    node,
    passed,
    pastTurn: past,
    log,
  })

  const metrics = processMetrics({
    head: events.head,
    lag: projecting.lag,
    running: () => turns.running,
  })
  const { refused, ...refusals } = refusalMeter({ record: commands.recordRefusal, clock, log })
  const usage = usageMeter({ record: commands.recordKeyUsage, clock, log })
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

  const delegate = delegation(findMember(views.members))
  const requireSubscription = subscription(findBalance(views.accounts))
  const findRepeated = findRepeatedRun(views.runs)
  const beginTurn = turnBeginner({
    turns,
    pastTurn: past,
    findSquad: squads.find,
    delegate,
    requireSubscription,
    repeats: repeats({ turns, findRepeatedRun: findRepeated, clock }),
    warmAgents: warm,
    clock,
  })
  const organization = getOrganization(views.organizations)
  const indexed = () => projecting.at(histories.name)
  const history = readHistory({ store: events, ...views, indexed })
  const states = stateAt({ readHistory: history, snapshots, version: projectionsVersion() })
  const people = { ...views, open }
  const oneAgent = getAgent(views.agents)
  const tree = readTree(views.transparency)
  const squadList = squadRoutes({ listSquads: listSquads(views) })

  const provisioning = provisioningOf({
    ...commands,
    ...views,
    open,
    secrets,
    turns,
    passed,
    head: events.head,
    clock,
    config,
  })

  const following = feeds({
    store: events,
    views: stores.views,
    at: projecting.at,
    passed: projecting.passed,
    readHistory: history,
    stateAt: states,
    head: events.head,
    opened: opener(open),
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
      '/api/external/v1': [
        chatRoutes(beginTurn),
        warmupRoutes({ warmAgents: warm, findSquad: squads.find, delegate, requireSubscription }),
      ],
      '': [squadList],
      '/api/external': [
        agentRoutes({ listAgents: listAgents(views.agents) }),
        squadList,
        ...provisioning.keyed,
        instructionRoutes({ ...commands, getAgent: oneAgent, passed }),
        agentCompletionRoutes({
          beginTurn,
          findSquad: squads.find,
          defaultModel: models.resolve(null).name,
        }),
        sessionRoutes({
          listSessions: listSessions(views.sessions),
          listMessages: listMessages({ messages: views.messages, findSession: session, open }),
          getMessage: getMessage({ messages: views.messages, findSession: session, open }),
          sessionStatus: sessionStatus({ findSession: session, now: clock.now }),
          delegate,
        }),
        ...knowledge.routes,
        ...content.keyed({ delegate, requireSubscription, passed }),
        sessionTurnRoutes({
          turns,
          pastTurn: past,
          findSession: session,
          findSquad: squads.find,
          defaultModel: models.resolve(null).name,
          delegate,
          clock,
        }),
      ],
      '/api/admin': [
        adminOrganizationRoutes({
          ...commands,
          getOrganization: organization,
          listOrganizations: listOrganizations(views.organizations),
          passed,
        }),
        adminMemberRoutes({
          ...commands,
          getOrganization: organization,
          getMember: getMember(people),
          listMembers: listMembers(people),
          passed,
        }),
        adminAgentRoutes({
          ...commands,
          getOrganization: organization,
          getAgent: oneAgent,
          listWholeAgents: listWholeAgents(views.agents),
          passed,
        }),
        adminApiKeyRoutes({
          ...commands,
          getOrganization: organization,
          getApiKey: getApiKey(views.apiKeys, views.members),
          listApiKeys: listApiKeys(views.apiKeys),
          passed,
        }),
        adminAuditRoutes({
          listEvents: listEvents({ readHistory: history, read: events.read, open }),
          getOrganization: organization,
        }),
        adminTransparencyRoutes({
          getCheckpoint: getCheckpoint({ readTree: tree, logKeySeed: secrets.logKeySeed }),
          getLogKey: getLogKey(secrets),
          getTile: getTile(tree),
          getEntries: getEntries({ readTree: tree, history: events.history }),
          proveInclusion: proveInclusion(tree),
          proveConsistency: proveConsistency(tree),
          exportLines: exportLines({ readTree: tree, history: events.history }),
          getOrganization: organization,
        }),
        adminHistoryRoutes({
          findState: findState({
            stateAt: states,
            findPosition: findPosition({ readHistory: history, ...views, indexed }),
            head: events.head,
            open,
          }),
          getUsage: getUsage(views.usage),
          getOrganization: organization,
        }),
        adminFeedRoutes({
          feeds: following,
          findAccess: access.find,
          getOrganization: organization,
        }),
        adminProjectionRoutes(rebuilding),
        adminUserRoutes({ ...commands, passed }),
      ],
      '/api/me': [
        meApiKeyRoutes({ ...commands, listUserKeys: listUserKeys(views.apiKeys), passed }),
      ],
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
    warm.release()
    await content.reactor.sweep()
    await knowledge.reactor.sweep()
  }

  return {
    http,
    /** Resolves when the views show a position, or after a bounded wait. */
    visible: passed,
    /** Fills an empty store with the demo organization; its key, the one time that it is made. */
    async demo() {
      const { uploadFiles } = knowledge
      const uses = { ...secrets, ...commands, uploadFiles, store: events, transact, clock }
      const made = await seedDemo(uses)
      if (!made) return undefined
      await passed(made.position)
      knowledge.reactor.add(made.uploadIds)
      return made
    },
    /** Waits until the views show all there is, then ends what a dead process left behind. */
    async recover(): Promise<void> {
      await projecting.passed(await events.head(), 60_000)
      await knowledge.reactor.recover()
      await tick(!sharedEvents)
    },
    tick,
    /** Stops accepting, lets runs end or records them as cancelled, writes what is pending. */
    async close(): Promise<void> {
      following.close()
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
      squads.close()
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
