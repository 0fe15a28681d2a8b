import { type Aggregate, streamOf } from '../aggregate.ts'
import { messageReadEvents } from './events.ts'

/** Reads of messages by a key for other users in an organization. No decision reads this stream. */
type MessageReads = Readonly<Record<string, never>>

const same = (state: MessageReads): MessageReads => state

const messageReads: Aggregate<MessageReads, typeof messageReadEvents> = {
  category: 'reads',
  events: messageReadEvents,
  initial: {},
  evolve: { MessagesRead: same, MessagesReadAgain: same, MessageReadsSummarized: same },
}

export const messageReadsStream = (organizationId: string, keyId: string | null) =>
  streamOf(messageReads, organizationId, keyId ?? 'platform')

/** Reads by an organization's keys, beyond the kinds that are counted apart. */
export const messageReadsSummaryStream = (organizationId: string) =>
  streamOf(messageReads, organizationId, 'summary')
