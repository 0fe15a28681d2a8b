import { consentedHosts } from '../event-sourcing/consented-hosts.ts'
import { findRequestId } from '../event-sourcing/find-request-id.ts'
import { opening } from '../support/disposal.ts'
import { jsonSchemas } from '../tools/json-schemas.ts'
import type { accessPart } from './access.ts'
import { approvalWatch } from './approval-watch.ts'
import { chatPart } from './chat.ts'
import { contentPart } from './content.ts'
import type { Host } from './host.ts'
import { version } from './http.ts'
import { knowledgePart } from './knowledge.ts'
import type { Meters } from './meters.ts'
import type { Reading } from './reading.ts'
import { openReceiveParts } from './receive-parts.ts'
import type { Storage } from './storage.ts'
import { openTools } from './tools.ts'
import type { Writing } from './writing.ts'

/** The parts that the turn engine is opened with, in the order in which they were opened. */
export type Parts = {
  host: Host
  storage: Storage
  writing: Writing
  reading: Reading
  access: ReturnType<typeof accessPart>
  meters: Meters
}

/** Generated content, which agents order and routes read. */
const contentOf = ({ host, storage, writing, reading, access }: Parts) => {
  const { config, options, clock, node, log } = host
  const { events, leases } = storage.stores
  const { commands, blobs, vault, secrets } = writing
  const { routeCommands, views, changes, waitForPosition } = reading
  return contentPart({
    config,
    commands,
    routeCommands,
    views,
    changes,
    requireSubscription: access.requireSubscription,
    storage: access.storage,
    waitForPosition,
    head: events.head,
    blobs,
    vault,
    linkKey: secrets.links,
    leases,
    findRequestId: findRequestId({ read: events.read }),
    clock,
    node,
    log,
    limits: options.generation ?? {},
  })
}

/** DataStores and their uploads. */
const openKnowledge = ({ host, storage, writing, reading, access }: Parts) => {
  const { config, clock, node, log } = host
  const { events, leases, space } = storage.stores
  const { commands, blobs, embedder } = writing
  const { routeCommands, views, waitForPosition } = reading
  return knowledgePart({
    config,
    space,
    commands,
    routeCommands,
    views,
    delegate: access.delegate,
    storage: access.storage,
    blobs,
    waitForPosition,
    head: events.head,
    embedder,
    leases,
    findRequestId: findRequestId({ read: events.read }),
    clock,
    node,
    log,
  })
}

type Content = ReturnType<typeof contentOf>
type Knowledge = Awaited<ReturnType<typeof openKnowledge>>

/** The tools of agents, and the schemas that their arguments are checked against. */
const openAgentTools = (
  { host, storage, writing, reading }: Parts,
  content: Content,
  knowledge: Knowledge,
) =>
  opening(async (opened) => {
    const schemas = opened.use(jsonSchemas())
    const hostsOf = consentedHosts(storage.stores.events.read)
    const tools = opened.use(
      await openTools({
        config: host.config,
        remember: writing.commands.remember,
        views: reading.views,
        open: writing.vault.open,
        hostsOf,
        misfitOf: schemas.misfitOf,
        clock: host.clock,
        knowledge: knowledge.search,
        contentGeneration: content.generation,
      }),
    )
    return { schemas, hostsOf, ...tools }
  })

type AgentTools = Awaited<ReturnType<typeof openAgentTools>>

/** Turns, sessions and runs, with their routes. */
const chatOf = (
  { host, storage, writing, reading, access, meters }: Parts,
  { schemas, toolsOf }: AgentTools,
  { linksOf, eraseContents }: Content,
  receiveParts: Parameters<typeof chatPart>[0]['receiveParts'],
  watchApproval: Parameters<typeof chatPart>[0]['watchApproval'],
) => {
  const { config, work, telemetry, clock, node, log } = host
  const { events, sharedViews, undelivered, leases } = storage.stores
  const { commands, models, vault, blobs, secrets, load } = writing
  const { routeCommands, writes, views, changes, waitForPosition } = reading
  const { delegate, requireSubscription, storage: quotas } = access
  return chatPart({
    config,
    commands,
    routeCommands,
    writes,
    views,
    changes,
    sharedViews,
    delegate,
    requireSubscription,
    storage: quotas,
    models,
    toolsOf,
    schemas,
    vault,
    blobs,
    receiveParts,
    linksOf,
    eraseContents,
    waitForPosition,
    undelivered,
    hashRequest: secrets.hashRequest,
    head: events.head,
    read: events.read,
    findRequestId: findRequestId({ read: events.read }),
    load,
    refused: meters.refusals.refused,
    messagesRead: meters.reads.messagesRead,
    watchApproval,
    work,
    telemetry,
    leases,
    clock,
    node,
    version,
    log,
  })
}

/**
 * The parts that do the work of agents: content, knowledge, tools and turns.
 * `expireApprovals` answers when the next approval expires.
 */
export const openTurnEngine = (parts: Parts, expireApprovals: () => Promise<string | undefined>) =>
  opening(async (opened) => {
    const { config, options, work, clock, log } = parts.host
    const content = opened.use(contentOf(parts))
    const knowledge = opened.use(await openKnowledge(parts))
    const tools = opened.use(await openAgentTools(parts, content, knowledge))
    const { space } = parts.storage.stores
    const privateHosts = options.privateHosts ?? []
    const { receiveParts } = opened.use(await openReceiveParts({ config, space, privateHosts }))
    const approvals = approvalWatch({ expire: expireApprovals, clock, log })
    const chat = opened.use(chatOf(parts, tools, content, receiveParts, approvals.watch))
    work.queue('uploads', knowledge.queued)
    work.queue('contents', content.queued)
    work.queue('runs', chat.turns.queued)
    return { content, knowledge, tools, approvals, chat }
  })

export type TurnEngine = Awaited<ReturnType<typeof openTurnEngine>>
