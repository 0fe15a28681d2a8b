import { findContentFile } from '../../queries/find-content-file.ts'
import { findMessageFile } from '../../queries/find-message-file.ts'
import { getContent } from '../../queries/get-content.ts'
import { listContents } from '../../queries/list-contents.ts'
import { httpContentProvider } from '../adapters/generation/http-provider.ts'
import { offlineContentProvider } from '../adapters/generation/offline-provider.ts'
import { guardedOutbound } from '../adapters/outbound/guarded.ts'
import { contentStream } from '../domain/content/content.ts'
import { findRequestId } from '../event-sourcing/find-request-id.ts'
import { contentWebhookRoutes } from '../http/routes/content-webhooks.ts'
import { contentRoutes } from '../http/routes/contents.ts'
import { fileRoutes } from '../http/routes/files.ts'
import { fileLinks } from '../http/wire/file-links.ts'
import { signedLinks } from '../security/signed-links.ts'
import { contentGeneration } from '../tools/request-content.ts'
import { eraseContents } from '../turns/erase/erase-contents.ts'
import { generateContent } from '../workers/generate-content.ts'
import type { Parts } from './parts.ts'

const hostOf = (url: string): string => {
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** Generated content: requesting it, generating it, and showing it. */
export const contentPart = ({ host, storage, writing, reading, access }: Parts) => {
  const { config, options, clock, node, log } = host
  const { events, leases } = storage.stores
  const { commands, blobs, vault, secrets } = writing
  const { routeCommands, views, changes, waitForPosition } = reading
  const limits = options.generation ?? {}
  const requestIdOf = findRequestId({ read: events.read })
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
  const links = signedLinks({ key: secrets.links, clock })
  const linksOf = fileLinks({ links, publicUrl })
  const worker = generateContent({
    contents,
    changes,
    provider,
    blobs,
    quotas: access.quotas,
    vault,
    startContent: commands.startContent,
    reserveContentCredits: commands.reserveContentCredits,
    submitContent: commands.submitContent,
    finishContent: commands.finishContent,
    async findRequestId(id) {
      const view = await contents.get(id)
      return view && requestIdOf(contentStream(view.organization_id, id).name)
    },
    leases,
    clock,
    node,
    log,
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
      waitForPosition,
      head: events.head,
    }),
    /** Under /api/external. */
    routes: [
      contentRoutes({
        listContents: listContents(contentReads),
        getContent: getContent(contentReads),
        retryContent: routeCommands.retryContent,
        requireSubscription: access.requireSubscription,
        quotas: access.quotas,
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

export type Content = ReturnType<typeof contentPart>
