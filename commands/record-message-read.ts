import type { MessageReadEvent } from '../src/domain/message-reads/events.ts'
import {
  messageReadsStream,
  messageReadsSummaryStream,
} from '../src/domain/message-reads/message-reads.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/** Records that the call's key read a user's messages; a summary covers the whole organization. */
export const recordMessageRead =
  ({ transact }: { transact: Transact }) =>
  async (read: MessageReadEvent, call: Call): Promise<void> => {
    const { organizationId, keyId } = call
    const stream =
      read.type === 'MessageReadsSummarized'
        ? messageReadsSummaryStream(organizationId)
        : messageReadsStream(organizationId, keyId)
    await transact(stream, () => [read], call)
  }
export type RecordMessageReadCommand = ReturnType<typeof recordMessageRead>
