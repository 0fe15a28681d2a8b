import type { Observable } from 'rxjs'
import type { FinishContentCommand } from '../../commands/finish-content.ts'
import type { RequestContentCommand } from '../../commands/request-content.ts'
import type { RetryContentCommand } from '../../commands/retry-content.ts'
import type { StartContentCommand } from '../../commands/start-content.ts'
import type { ContentView } from '../../projections/contents.ts'
import { findContentFile } from '../../queries/find-content-file.ts'
import { getContent } from '../../queries/get-content.ts'
import { listContents } from '../../queries/list-contents.ts'
import { httpContentProvider } from '../adapters/generation/http-provider.ts'
import { offlineContentProvider } from '../adapters/generation/offline-provider.ts'
import type { Config } from '../config.ts'
import { contentWebhookRoutes } from '../http/routes/content-webhooks.ts'
import { contentRoutes } from '../http/routes/contents.ts'
import { fileRoutes } from '../http/routes/files.ts'
import { signedLinks } from '../http/wire/signed-links.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Clock } from '../ports/clock.ts'
import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import type { View } from '../ports/views.ts'
import type { ViewChange } from '../projector/projector.ts'
import { generateContent } from '../reactors/generate-content.ts'
import type { Delegate } from '../security/delegate.ts'
import type { Secrets } from '../security/secrets.ts'
import type { Vault } from '../security/vault.ts'
import { contentGeneration } from '../tools/request-content.ts'
import type { RequireSubscription } from '../turns/subscription.ts'

type Uses = {
  config: Pick<Config, 'GENERATION_BASE_URL' | 'GENERATION_API_KEY' | 'PUBLIC_URL'>
  commands: {
    requestContent: RequestContentCommand
    retryContent: RetryContentCommand
    startContent: StartContentCommand
    finishContent: FinishContentCommand
  }
  contents: View<ContentView>
  changes: Observable<ViewChange>
  blobs: Blobs
  vault: Vault
  secrets: Secrets
  leases: Leases
  clock: Clock
  node: string
  log: Log
  limits?: GenerationLimits | undefined
}

export type GenerationLimits = {
  /** Between two looks at what a provider is making. */
  pollMs?: number
  /** How long one answer of the provider may take. */
  timeoutMs?: number
  /** Larger files are not stored. */
  maxBytes?: number
}

type Edge = {
  delegate: Delegate
  requireSubscription: RequireSubscription
  waitForPosition(position: number): Promise<unknown>
}

/** Generated content: what takes requests in, what makes them, and what shows them. */
export const contentOf = (uses: Uses) => {
  const { config, commands, contents, vault, secrets, clock, blobs } = uses
  const { GENERATION_BASE_URL: baseUrl, GENERATION_API_KEY: apiKey, PUBLIC_URL: publicUrl } = config
  const { timeoutMs, ...limits } = uses.limits ?? {}
  const provider = baseUrl
    ? httpContentProvider({ baseUrl, apiKey, ...(timeoutMs === undefined ? {} : { timeoutMs }) })
    : offlineContentProvider()
  const links = signedLinks({ key: secrets.links, clock })
  const reactor = generateContent({
    ...uses,
    ...commands,
    ...limits,
    provider,
    webhookOf: (id) =>
      publicUrl && `${publicUrl}/webhooks/content/${id}?${links.queryFor('webhook', id)}`,
  })
  const reads = { contents, open: vault.open }
  return {
    generation: contentGeneration({ ...commands, provider, vault, clock }),
    reactor,
    keyed: (edge: Edge) => [
      contentRoutes({
        ...edge,
        ...commands,
        listContents: listContents(reads),
        getContent: getContent(reads),
        links,
        publicUrl,
      }),
    ],
    open: [
      fileRoutes({ links, findFile: findContentFile(contents), blobs }),
      contentWebhookRoutes({ links, wake: reactor.wake }),
    ],
  }
}
