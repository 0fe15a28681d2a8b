import { despiteUnreadable } from '../src/domain/aggregate.ts'
import { decideErase } from '../src/domain/session/erase.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { sessionKey, type Vault } from '../src/security/vault.ts'

export type EraseSession = { sessionId: string; userId: string }

/**
 * Erases a user's session: its texts can be read nowhere again, the history still verifies. The key
 * goes first, then `alsoErase` erases what else belongs to the session; so that a crash in between
 * leaves a session without texts that is erased when asked for again. @throws session_not_found
 */
export const eraseSession =
  ({ load, transact, destroy }: Streams & { destroy: Vault['destroy'] }) =>
  async ({ sessionId, userId }: EraseSession, call: Call, alsoErase?: () => Promise<void>) => {
    const stream = despiteUnreadable(sessionStream(call.organizationId, sessionId))
    const decide = decideErase({ sessionOwner: userId, deletedBy: call.userId })
    decide((await load(stream)).state)
    await destroy(sessionKey(call.organizationId, sessionId))
    await alsoErase?.()
    const { position } = await transact(stream, decide, call)
    return { position }
  }
export type EraseSessionCommand = ReturnType<typeof eraseSession>
