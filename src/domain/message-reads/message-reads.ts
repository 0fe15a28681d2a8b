import { type Aggregate, streamOf } from '../aggregate.ts'
import { messageReadEvents } from './events.ts'

/** What a key read for others in an organization. A record only: no decision reads it. */
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

/** What an organization's keys read, where there are too many kinds to tell them apart. */
export const messageReadsSummaryStream = (organizationId: string) =>
  streamOf(messageReads, organizationId, 'summary')
