import type { SealedMessage } from '../../../commands/send-message.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Clock } from '../../ports/clock.ts'
import { KeyDestroyed } from '../../ports/keys.ts'
import { type Keyed, sessionKey, type Vault } from '../../security/vault.ts'
import { sealedResults } from '../run/client-calls.ts'
import type { TurnRequest } from '../turn.ts'
import type { StoredFiles } from './store-files.ts'
import { storedRequest } from './stored-request.ts'

type Uses = { vault: Pick<Vault, 'keyed'>; clock: Pick<Clock, 'id'> }

/** What is stored of a request, and the session's key, which seals the rest of its turn too. */
export type SealedRequest = { message: SealedMessage; key: Keyed }

/** A session without its key is gone. @throws session_not_found, any other error */
export const unlessErased = (error: unknown): never => {
  throw error instanceof KeyDestroyed ? refusal('session_not_found') : error
}

/**
 * Seals what a turn stores with its session's key: the user's message, or the client's results, and
 * the parts of the request that a resumed run needs. `files` are stored in between.
 * @throws session_not_found once the session and its key are erased
 */
export const sealRequest =
  ({ vault, clock }: Uses) =>
  async (request: TurnRequest, files?: Pick<StoredFiles, 'put'>): Promise<SealedRequest> => {
    const { call, sessionId, isNewSession, results, message, messageId } = request
    const name = sessionKey(call.organizationId, sessionId)
    const key = await vault.keyed(name, isNewSession).catch(unlessErased)
    const content = results
      ? await sealedResults(key, results, (n) => (n === 0 ? messageId : clock.id()))
      : key.seal(message)
    if (files) await files.put().catch(unlessErased)
    return { message: { content, ...storedRequest(request, key) }, key }
  }

export type SealRequest = ReturnType<typeof sealRequest>
