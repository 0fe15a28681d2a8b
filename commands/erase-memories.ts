import { decideEraseMemories, memoryStream } from '../src/domain/memory/memory.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'
import { memoryKey } from '../src/security/vault.ts'
import { eraseUnderKey } from './erase-under-key.ts'

/** Erases all that is remembered of a user in the call's organization. */
export const eraseMemories = (uses: Streams & { destroyKey: DestroyKey }) => {
  const erase = eraseUnderKey(uses)
  return ({ userId }: { userId: string }, call: Call) => {
    const { organizationId } = call
    const stream = memoryStream(organizationId, userId)
    const keyOf = (generation: number) => memoryKey(organizationId, userId, generation)
    return erase({ userId, stream, keyOf, decide: decideEraseMemories }, call)
  }
}
export type EraseMemoriesCommand = ReturnType<typeof eraseMemories>
