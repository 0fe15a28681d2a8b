import { refusal } from '../../domain/refusal.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { Send } from '../../domain/session/send.ts'
import type { Clock } from '../../ports/clock.ts'
import { KeyDestroyed } from '../../ports/keys.ts'
import { type Keyed, sessionKey, type Vault } from '../../security/vault.ts'
import { sealedResults } from '../run/client-calls.ts'
import type { TurnRequest } from '../turn.ts'
import { keptOf } from './stored-request.ts'

type Uses = { vault: Pick<Vault, 'keyed'>; clock: Pick<Clock, 'id'> }

/** A session without its key is gone. @throws session_not_found, any other error */
export const unlessErased = (error: unknown): never => {
  throw error instanceof KeyDestroyed ? refusal('session_not_found') : error
}

/**
 * Seals what a turn stores with its session's key. All of it is without a promise when the key is in
 * memory, but for the client's results. @throws session_not_found once the session and its key are erased
 */
export const sealedRequest = ({ vault, clock }: Uses) => {
  const keyOf = (request: TurnRequest): Keyed | Promise<Keyed> => {
    const { call, sessionId, isNewSession } = request
    try {
      const keyed = vault.keyed(sessionKey(call.organizationId, sessionId), isNewSession)
      return keyed instanceof Promise ? keyed.catch(unlessErased) : keyed
    } catch (error) {
      return unlessErased(error)
    }
  }

  const sealedAnswers = async (request: TurnRequest) => {
    const { results = [], messageId } = request
    const idOf = (n: number) => (n === 0 ? messageId : clock.id())
    return sealedResults(await keyOf(request), results, idOf)
  }

  const sealedMessage = (request: TurnRequest): Sealed | Promise<Sealed> => {
    const key = keyOf(request)
    const { message } = request
    return key instanceof Promise ? key.then(({ seal }) => seal(message)) : key.seal(message)
  }

  return {
    keyOf,
    /** The user's message, or the client's results. */
    contentOf: (request: TurnRequest): Send['content'] | Promise<Send['content']> =>
      request.results ? sealedAnswers(request) : sealedMessage(request),
    /** What a resume needs of the request. */
    keptOf(request: TurnRequest) {
      const key = keyOf(request)
      return key instanceof Promise
        ? key.then((found) => keptOf(request, found))
        : keptOf(request, key)
    },
  }
}

export type SealedRequest = ReturnType<typeof sealedRequest>
