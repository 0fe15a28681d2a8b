import { credentialsStream, decideEraseCredentials } from '../src/domain/credential/credential.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'
import { credentialsKey } from '../src/security/vault.ts'
import { eraseUnderKey } from './erase-under-key.ts'

/**
 * Erases all credentials of a user in the call's organization, values that were replaced or deleted
 * before too.
 */
export const eraseCredentials = (uses: Streams & { destroyKey: DestroyKey }) => {
  const erase = eraseUnderKey(uses)
  return ({ userId }: { userId: string }, call: Call) => {
    const { organizationId } = call
    const stream = credentialsStream(organizationId, userId)
    const keyOf = (generation: number) => credentialsKey(organizationId, userId, generation)
    return erase({ userId, stream, keyOf, decide: decideEraseCredentials }, call)
  }
}
export type EraseCredentialsCommand = ReturnType<typeof eraseCredentials>
