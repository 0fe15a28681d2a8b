import { findContentFile } from '../../queries/find-content-file.ts'
import { findMessageFile } from '../../queries/find-message-file.ts'
import { getContent } from '../../queries/get-content.ts'
import { listContents } from '../../queries/list-contents.ts'
import { httpContentProvider } from '../adapters/generation/http-provider.ts'
import { offlineContentProvider } from '../adapters/generation/offline-provider.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import type { Config } from '../config.ts'
import { contentStream } from '../domain/content/content.ts'
import type { Position } from '../domain/event.ts'
import type { FindRequestId } from '../event-sourcing/find-request-id.ts'
import { contentWebhookRoutes } from '../http/routes/content-webhooks.ts'
import { contentRoutes } from '../http/routes/contents.ts'
import { fileRoutes } from '../http/routes/files.ts'
import { fileLinks } from '../http/wire/file-links.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { WaitForPosition } from '../ports/views.ts'
import type { Projector } from '../projector/projector.ts'
import type { SealedBlobs } from '../security/sealed-blobs.ts'
import type { Secrets } from '../security/secrets.ts'
import { signedLinks } from '../security/signed-links.ts'
import type { Vault } from '../security/vault.ts'
import { contentGeneration } from '../tools/request-content.ts'
import type { RequireSubscription } from '../turns/begin/require-subscription.ts'
import type { StorageQuotas } from '../turns/begin/storage-quotas.ts'
import { eraseContents } from '../turns/erase/erase-contents.ts'
import { generateContent } from '../workers/generate-content.ts'
import type { AllViews } from './read-models.ts'
import type { InternalCommands, RouteCommands } from './route-commands.ts'

type Uses = {
  config: Pick<Config, 'GENERATION_BASE_URL' | 'GENERATION_API_KEY' | 'PUBLIC_URL'>
  commands: Pick<
    InternalCommands,
    | 'eraseContent'
    | 'finishContent'
    | 'requestContent'
    | 'reserveContentCredits'
    | 'startContent'
    | 'submitContent'
  >
  routeCommands: Pick<RouteCommands, 'retryContent'>
  views: Pick<AllViews, 'contents' | 'messages'>
  changes: Projector['changes']
  requireSubscription: RequireSubscription
  storage: StorageQuotas
  waitForPosition: WaitForPosition
  /** The last position of the log. */
  head(): Promise<Position>
  blobs: SealedBlobs
  vault: Vault
  /** Signs links to files and webhooks. */
  linkKey: Secrets['links']
  leases: Leases
  clock: Clock
  findRequestId: FindRequestId
  /** Identifies this process until it ends. */
  node: string
  log: Log
  limits: GenerationLimits
}

export type GenerationLimits = {
  /** Between two polls of a provider. */
  pollMs?: number
  /** How long one answer of the provider may take. */
  timeoutMs?: number
  /** Larger files are not stored. */
  maxBytes?: number
}

const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** Generated content: requesting it, generating it, and showing it. */
export const contentPart = (uses: Uses) => {
  const { config, commands, views, blobs, vault, clock, limits } = uses
  const { GENERATION_BASE_URL: baseUrl, GENERATION_API_KEY: apiKey, PUBLIC_URL: publicUrl } = config
  const { contents, messages } = views
  const { timeoutMs } = limits
  const outbound = guardedOutbound({
    allowHosts: baseUrl ? [hostOf(baseUrl)] : [],
    ...(timeoutMs === undefined ? {} : { headersMs: timeoutMs }),
  })
  const provider = baseUrl
    ? httpContentProvider({ baseUrl, apiKey, outbound, timeoutMs })
    : offlineContentProvider()
  const links = signedLinks({ key: uses.linkKey, clock })
  const linksOf = fileLinks({ links, publicUrl })
  const worker = generateContent({
    contents,
    changes: uses.changes,
    provider,
    blobs,
    storage: uses.storage,
    vault,
    startContent: commands.startContent,
    reserveContentCredits: commands.reserveContentCredits,
    submitContent: commands.submitContent,
    finishContent: commands.finishContent,
    async findRequestId(id) {
      const view = await contents.get(id)
      return view && uses.findRequestId(contentStream(view.organization_id, id).name)
    },
    leases: uses.leases,
    clock,
    node: uses.node,
    log: uses.log,
    webhookOf: (id) =>
      publicUrl && `${publicUrl}/webhooks/content/${id}?${links.queryFor('webhook', id)}`,
    pollMs: limits.pollMs,
    maxBytes: limits.maxBytes,
  })
  const contentReads = { contents, open: vault.open }
  return {
    /** How many contents wait or are generated. */
    queued: worker.length,
    /** How agents request content. */
    generation: contentGeneration({
      requestContent: commands.requestContent,
      provider,
      vault,
      clock,
    }),
    /** Erases what was generated in a session. */
    eraseContents: eraseContents({
      contents,
      eraseContent: commands.eraseContent,
      blobs,
      waitForPosition: uses.waitForPosition,
      head: uses.head,
    }),
    /** Under /api/external. */
    routes: [
      contentRoutes({
        listContents: listContents(contentReads),
        getContent: getContent(contentReads),
        retryContent: uses.routeCommands.retryContent,
        requireSubscription: uses.requireSubscription,
        storage: uses.storage,
        linksOf,
      }),
    ],
    /** Links to files, also to those of messages. */
    linksOf,
    /** Behind signed links, without a key. */
    openRoutes: [
      fileRoutes({
        links,
        findContentFile: findContentFile({ contents }),
        findMessageFile: findMessageFile({ messages, open: vault.open }),
        blobs,
      }),
      contentWebhookRoutes({ links, wake: worker.wake }),
    ],
    /** Takes up work that waits. */
    sweep: worker.sweep,
    async close() {
      await worker.stop()
      await outbound.close()
    },
  }
}
