import { refusal } from '../../domain/refusal.ts'
import { type SessionEvent, sessionEvents } from '../../domain/session/events.ts'
import { type Cut, type ForkedMessage, mostForked } from '../../domain/session/fork.ts'
import { sessionStream } from '../../domain/session/session.ts'
import { decoder, readableOr } from '../../event-sourcing/codec.ts'
import type { EventStore, RecordedEvent, UnreadableEvent } from '../../ports/event-store.ts'

/** A message as it is stored in its own session. */
export type StoredMessage = Omit<ForkedMessage, 'from'>

type Read = EventStore['read']
type Place = { organizationId: string; sessionId: string }

const decode = decoder(sessionEvents)

const types = ['UserMessageSent', 'AssistantMessageRecorded', 'ClientToolAnswered', 'MessageForked']

const rethrow = (error: UnreadableEvent): never => {
  throw error
}

const messageIn = (recorded: RecordedEvent): StoredMessage | undefined => {
  if (!types.includes(recorded.type)) return undefined
  const event = decode(recorded) as SessionEvent & Pick<RecordedEvent, 'metadata'>
  const { at } = event.metadata
  if (event.type === 'MessageForked') {
    const { from: _, ...message } = event.data
    return message
  }
  if (event.type === 'UserMessageSent') {
    const { messageId, runId, content, parts } = event.data
    const files = parts === undefined ? {} : { parts }
    return { messageId, fromRun: runId, saidBy: 'user', at, content, ...files }
  }
  if (event.type === 'AssistantMessageRecorded') {
    const { runId, ...message } = event.data
    return { ...message, fromRun: runId, saidBy: 'assistant', at }
  }
  if (event.type !== 'ClientToolAnswered') return undefined
  const { messageId, runId, toolId, content } = event.data
  return { messageId, fromRun: runId, saidBy: 'tool', at, content, toolId }
}

/**
 * The messages of a session in order, in batches, from its events, so no lag of views matters.
 * `onUnreadable` is called for an event that is left out, and may throw.
 */
export async function* recordedMessages(
  read: Read,
  { organizationId, sessionId }: Place,
  onUnreadable: (error: UnreadableEvent) => undefined = rethrow,
): AsyncGenerator<StoredMessage[]> {
  for await (const batch of read(sessionStream(organizationId, sessionId).name)) {
    const messages = batch.flatMap(
      (event) => readableOr(() => messageIn(event), onUnreadable) ?? [],
    )
    if (messages.length > 0) yield messages
  }
}

/** Characters of the sealed texts of a message. */
export const sizeOf = ({ content, toolCalls = [] }: StoredMessage): number =>
  toolCalls.reduce((sum, call) => sum + call.arguments.box.length, content.box.length)

/** Up to and with a message (null: all), or up to the turn that a message belongs to. */
export type CutAt = { after: string | null } | { beforeTurnOf: string }

/** `userMessage` began the turn. */
export type SessionCut = Cut & { userMessage?: Pick<StoredMessage, 'content' | 'parts'> }

/** Characters of sealed texts, and bytes of files. */
type Size = { characters: number; files: number }

const none: SessionCut = { after: null, messages: 0 }

/**
 * Where a session is cut. @throws message_not_found, and payload_too_large for more than a fork
 * copies
 */
export const findCut = async (read: Read, place: Place, at: CutAt): Promise<SessionCut> => {
  const wanted = 'after' in at ? at.after : at.beforeTurnOf
  let cut = none
  let size: Size = { characters: 0, files: 0 }
  let turn: SessionCut & { size: Size } = { ...none, size }
  const within = (part: SessionCut, { characters, files }: Size): SessionCut => {
    const isText = part.messages <= mostForked.messages && characters <= mostForked.characters
    if (isText && files <= mostForked.files) return part
    throw refusal('payload_too_large', {
      message: isText
        ? 'A fork has at most 32 MB of files: name an earlier message'
        : 'A fork has at most 10,000 messages and 16 MB of text: name an earlier message',
    })
  }
  for await (const batch of recordedMessages(read, place)) {
    for (const message of batch) {
      const { messageId, saidBy, parts = [] } = message
      if (saidBy === 'user') turn = { ...cut, userMessage: message, size }
      cut = { after: messageId, messages: cut.messages + 1 }
      size = {
        characters: size.characters + sizeOf(message),
        files: parts.reduce((sum, { bytes }) => sum + bytes, size.files),
      }
      if (messageId !== wanted) continue
      if ('after' in at) return within(cut, size)
      const { size: until, ...before } = turn
      if (!before.userMessage) break
      return within(before, until)
    }
    if (wanted === null) within(cut, size)
  }
  if (wanted !== null) throw refusal('message_not_found')
  return cut
}
