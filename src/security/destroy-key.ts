import type { Destroyed } from '../domain/erasure.ts'
import type { Call } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { isoTime } from '../support/iso-time.ts'
import type { Vault } from './vault.ts'

type Uses = { destroy: Vault['destroy']; clock: Pick<Clock, 'now'> }

/** `userId`: whom the texts under the key are about. */
type Of = { generation: number; userId: string }

/** Destroys a data key of a person, and certifies who asked for it, and when it was destroyed. */
export const destroyKey =
  ({ destroy, clock }: Uses) =>
  async (keyId: string, { generation, userId }: Of, call: Call): Promise<Destroyed> => {
    await destroy(keyId)
    const destroyedAt = isoTime(clock.now().getTime())
    const delegated = call.userId !== userId
    return { generation, deletedBy: call.userId, delegated, keyIds: [keyId], destroyedAt }
  }
export type DestroyKey = ReturnType<typeof destroyKey>
