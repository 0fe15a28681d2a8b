import { decideRevoke, organizationKeyStream } from '../src/domain/api-key/api-key.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Revokes a key of the call's organization, for good. @throws key_not_found */
export const revokeApiKey =
  (transact: Transact) =>
  async ({ keyId }: { keyId: string }, call: Call) => {
    const stream = organizationKeyStream(call.organizationId, keyId)
    const { position } = await transact(stream, decideRevoke, call)
    return { position }
  }
export type RevokeApiKeyCommand = ReturnType<typeof revokeApiKey>
