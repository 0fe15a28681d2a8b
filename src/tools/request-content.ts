import type { RequestContentCommand } from '../../commands/request-content.ts'
import { refusal } from '../domain/refusal.ts'
import { actingUser } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import type { ContentGeneration, Generatable } from '../ports/content-generation.ts'
import type { ContentProvider } from '../ports/content-provider.ts'
import { sessionKey, type Vault } from '../security/vault.ts'
import { idFor } from '../support/ids.ts'

/** How often a failed item can be queued again (docs/contract/limits.md#sizes). */
const maxRetries = 3

/** What one generation costs, in micro-credits. */
const prices: Readonly<Record<Generatable, number>> = {
  image: 40_000,
  audio: 20_000,
  glb: 100_000,
  video: 500_000,
}

type Uses = {
  provider: ContentProvider
  requestContent: RequestContentCommand
  vault: Vault
  clock: Clock
}

/**
 * Records requests of agents for content; a worker generates it
 * (docs/contract/content.md#status).
 */
export const contentGeneration = (uses: Uses): ContentGeneration => {
  const { provider, requestContent, vault, clock } = uses
  return {
    async request({ prompt, contentType, sessionId, runId }, call) {
      const userId = actingUser(call)
      const payerId = call.userId
      if (!userId || !payerId) throw refusal('delegation_not_allowed')
      const contentId = idFor(clock, call, `content/${contentType}/${prompt}`)
      const key = await vault.keyed(sessionKey(call.organizationId, sessionId))
      await requestContent(
        {
          contentId,
          sessionId,
          runId,
          userId,
          keyId: call.keyId,
          payerId,
          requested: contentType,
          prompt: key.seal(prompt),
          input: key.seal(JSON.stringify({ prompt })),
          providerVersion: provider.versionOf(contentType),
          maxRetries,
          reserved: prices[contentType],
        },
        { ...call, at: clock.now().toISOString() },
      )
      return { id: contentId, content_type: contentType, status: 'pending' }
    },
  }
}
