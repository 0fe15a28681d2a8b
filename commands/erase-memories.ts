import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { decideEraseMemories, memoryStream } from '../src/domain/memory/memory.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import type { DestroyKey } from '../src/security/destroy-key.ts'
import { memoryKey } from '../src/security/vault.ts'

/**
 * Erases all that is remembered of a user in the call's organization. The key goes first: a crash
 * in between leaves memories that nobody can read, which are erased when asked for again.
 */
export const eraseMemories =
  ({ load, transact, destroyKey }: Streams & { destroyKey: DestroyKey }) =>
  async ({ userId }: { userId: string }, call: Call) => {
    const stream = despiteUnreadable(memoryStream(call.organizationId, userId))
    const { state, position } = await load(stream)
    const { inUse, generation } = state.key
    if (!inUse) return { erased: undefined, position }
    const keyId = memoryKey(call.organizationId, userId, generation)
    const destroyed = await destroyKey(keyId, { generation, userId }, call)
    const done = await transact(stream, decideEraseMemories(destroyed), call)
    return { erased: done.events[0]?.data, position: done.position }
  }
export type EraseMemoriesCommand = ReturnType<typeof eraseMemories>
