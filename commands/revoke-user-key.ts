import { decideRevokeOwn, userKeyStream } from '../src/domain/api-key/api-key.ts'
import { latest } from '../src/domain/event.ts'
import { decideDropKey, keyringStream } from '../src/domain/keyring/keyring.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Revokes a user key of that user, and frees its place. @throws key_not_found */
export const revokeUserKey =
  ({ transact }: { transact: Transact }) =>
  async ({ keyId, userId }: { keyId: string; userId: string }, call: Call) => {
    const revoked = await transact(userKeyStream(keyId), decideRevokeOwn(userId), call)
    const dropped = await transact(keyringStream(userId), decideDropKey(keyId), call)
    return { position: latest(revoked.position, dropped.position) }
  }
export type RevokeUserKeyCommand = ReturnType<typeof revokeUserKey>
