import type { Call } from '../../ports/call.ts'
import type { EventStore } from '../../ports/event-store.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { sessionKey } from '../../security/vault.ts'
import { recordedMessages } from '../fork/recorded-messages.ts'

type Uses = { read: EventStore['read']; blobs: SealedBlobs }

/**
 * Removes the files of a session's messages, as its events name them. Without the session's key
 * nobody can read them any more; this gives back their room.
 */
export const eraseFiles =
  ({ read, blobs }: Uses) =>
  async (sessionId: string, { organizationId }: Call): Promise<void> => {
    const files = blobs.under(sessionKey(organizationId, sessionId))
    const messages = recordedMessages(read, { organizationId, sessionId }, () => undefined)
    for await (const some of messages)
      for (const { parts = [] } of some) for (const { blob } of parts) await files.remove(blob)
  }
