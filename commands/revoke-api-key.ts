import { decideRevoke, organizationKeyStream } from '../src/domain/api-key/api-key.ts'
import type { KeyGiver } from '../src/domain/api-key/who-may.ts'
import { organizationStream } from '../src/domain/organization/organization.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Revokes a key of the call's organization, for good. @throws key_not_found, owner_required */
export const revokeApiKey =
  ({ load, transact }: Streams) =>
  async ({ keyId, by }: { keyId: string; by: KeyGiver }, call: Call) => {
    const stream = organizationKeyStream(call.organizationId, keyId)
    const { owners } = (await load(organizationStream(call.organizationId))).state
    const { position } = await transact(stream, decideRevoke(by, owners), call)
    return { position }
  }
export type RevokeApiKeyCommand = ReturnType<typeof revokeApiKey>
