import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { credentialsStream, decideEraseCredentials } from '../src/domain/credential/credential.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'
import { credentialsKey } from '../src/security/vault.ts'

/**
 * Erases all credentials of a user in the call's organization, values that were replaced or deleted
 * before too. The key goes first, as for memories.
 */
export const eraseCredentials =
  ({ load, transact, destroyKey }: Streams & { destroyKey: DestroyKey }) =>
  async ({ userId }: { userId: string }, call: Call) => {
    const stream = despiteUnreadable(credentialsStream(call.organizationId, userId))
    const { state, position } = await load(stream)
    const { inUse, generation } = state.key
    if (!inUse) return { erased: undefined, position }
    const keyId = credentialsKey(call.organizationId, userId, generation)
    const destroyed = await destroyKey(keyId, { generation, userId }, call)
    const done = await transact(stream, decideEraseCredentials(destroyed), call)
    return { erased: done.events[0]?.data, position: done.position }
  }
export type EraseCredentialsCommand = ReturnType<typeof eraseCredentials>
