import type { EraseSessionCommand } from '../../../commands/erase-session.ts'
import type { ForkSessionCommand } from '../../../commands/fork-session.ts'
import type { ForkView } from '../../../projections/forks.ts'
import type { Position } from '../../domain/event.ts'
import { Refusal, refusal } from '../../domain/refusal.ts'
import type { Sealed } from '../../domain/sealed.ts'
import { type ForkedMessage, requireFree, requireSource } from '../../domain/session/fork.ts'
import { type Fork, sessionStream } from '../../domain/session/session.ts'
import type { Viewer } from '../../domain/session/viewer.ts'
import type { Load } from '../../event-sourcing/transactor.ts'
import { type Call, systemCall } from '../../ports/call.ts'
import type { Clock } from '../../ports/clock.ts'
import { type EventStore, START } from '../../ports/event-store.ts'
import { KeyDestroyed } from '../../ports/keys.ts'
import type { SealedBlobs } from '../../security/sealed-blobs.ts'
import { sessionKey, type Vault } from '../../security/vault.ts'
import { idFor } from '../../support/ids.ts'
import { type SerialQueue, serialQueue } from '../../support/serial-queue.ts'
import { yieldToEventLoop } from '../../support/yield-to-event-loop.ts'
import type { ArrivedPart } from '../begin/receive-parts.ts'
import { arrivedAgain, copiedParts, type FilePlace } from './copied-parts.ts'
import {
  type CutAt,
  findCut,
  recordedMessages,
  type SessionCut,
  type StoredMessage,
  sizeOf,
} from './recorded-messages.ts'

/** What is copied in one turn of the event loop and one append: messages, and characters. */
const piece = { messages: 64, characters: 131_072 }

type Uses = {
  load: Load
  read: EventStore['read']
  forkSession: ForkSessionCommand
  eraseSession: EraseSessionCommand
  vault: Pick<Vault, 'found' | 'keyed'>
  blobs: SealedBlobs
  clock: Clock
  /** Identifies this process until it ends. */
  node: string
}

export type ForkRequest = {
  viewer: Viewer
  /** The session that is forked. */
  sessionId: string
  at: CutAt
  /** The fork's id; undefined: a new one. */
  forkSessionId: string | undefined
  /** The same when the same request is made again; absent: that of the call. */
  forkId?: string
}

export type Forked = {
  sessionId: string
  forkedFrom: string
  after: string | null
  /** The message of the user with which the turn began that was cut off. */
  message: string
  /** Its files, which are read from the session that is forked. */
  files: readonly ArrivedPart[]
  position: Position
}

type Copying = {
  fork: Fork
  sessionId: string
  isNew: boolean
  viewer: Viewer
  keyId: string | null
  hidden: boolean
  /** How many messages are copied already. */
  copied: number
}

/** The next pieces of a session's messages, after those that are copied. */
async function* piecesOf(
  messages: AsyncIterable<readonly StoredMessage[]>,
  { copied, fork }: Pick<Copying, 'copied' | 'fork'>,
): AsyncGenerator<StoredMessage[]> {
  let next: StoredMessage[] = []
  let characters = 0
  let seen = 0
  for await (const batch of messages) {
    for (const message of batch) {
      if (seen++ < copied) continue
      if (seen > fork.messages) break
      const size = sizeOf(message)
      const full = next.length >= piece.messages || characters + size > piece.characters
      if (next.length > 0 && full) {
        yield next
        next = []
        characters = 0
      }
      next.push(message)
      characters += size
    }
    if (seen >= fork.messages) break
  }
  // Also of no messages: it makes the fork a session.
  yield next
}

/** The same message under another key; nothing of it is unpacked. */
const sealedAgain = async (
  { messageId: from, ...message }: StoredMessage,
  messageId: string,
  { source, own }: { source: FilePlace; own: FilePlace },
): Promise<ForkedMessage> => {
  const again = (text: Sealed): Sealed => own.key.sealPacked(source.key.openPacked(text))
  const { toolCalls, parts } = message
  return {
    ...message,
    messageId,
    from,
    content: again(message.content),
    ...(toolCalls
      ? {
          toolCalls: toolCalls.map((toolCall) => ({
            ...toolCall,
            arguments: again(toolCall.arguments),
          })),
        }
      : {}),
    ...(parts ? { parts: await copiedParts(parts, messageId, source, own) } : {}),
  }
}

/**
 * Forks sessions: the messages up to a point, sealed again under a key of the fork's own, so that
 * erasing one leaves the other. No model is asked. Messages are copied piece by piece, each in a
 * turn of the event loop of its own, one fork of an organization at a time. The fork is unknown
 * until all are there.
 */
export const forkSessions = (uses: Uses) => {
  const { load, read, forkSession, eraseSession, vault, blobs, clock, node } = uses
  const queues = new Map<string, { queue: SerialQueue; waiting: number }>()
  const underWay = new Set<string>()

  /** One after the other within an organization. */
  const inLine = async <T>(organizationId: string, work: () => Promise<T>): Promise<T> => {
    const line = queues.get(organizationId) ?? { queue: serialQueue(), waiting: 0 }
    queues.set(organizationId, line)
    line.waiting++
    try {
      return await line.queue(work)
    } finally {
      if (--line.waiting === 0) queues.delete(organizationId)
    }
  }

  const stateOf = async ({ organizationId }: Call, sessionId: string) =>
    (await load(sessionStream(organizationId, sessionId))).state

  /** @throws session_not_found once the source is erased */
  const sourceOf = async ({ organizationId }: Call, sessionId: string): Promise<FilePlace> => {
    const name = sessionKey(organizationId, sessionId)
    const key = await vault.found(name)
    if (!key) throw refusal('session_not_found')
    return { key, files: blobs.under(name) }
  }

  /** @throws session_not_found once the source is erased */
  const keysOf = async (call: Call, { sessionId, fork, isNew }: Copying) => {
    const source = await sourceOf(call, fork.forkedFrom)
    const name = sessionKey(call.organizationId, sessionId)
    return { source, own: { key: await vault.keyed(name, isNew), files: blobs.under(name) } }
  }

  const copyAll = async (copying: Copying, call: Call): Promise<Position> => {
    const { fork, sessionId, isNew, viewer, keyId, hidden } = copying
    const from = { organizationId: call.organizationId, sessionId: fork.forkedFrom }
    const keys = await keysOf(call, copying)
    const target = { fork, sessionId, viewer, keyId, hidden, node }
    let at = copying.copied
    let position: Position = START
    for await (const next of piecesOf(recordedMessages(read, from), copying)) {
      await yieldToEventLoop()
      const messages: ForkedMessage[] = []
      for (const message of next) messages.push(await sealedAgain(message, clock.id(), keys))
      const isLast = at + messages.length >= fork.messages
      if (isLast) requireSource(viewer, await stateOf(call, fork.forkedFrom))
      const piece = { ...target, isNew: isNew && at === 0, at, messages }
      const stored = await forkSession(piece, call)
      position = stored.position
      at += messages.length
      if (stored.state.status === 'open') return position
    }
    // Another process copies it, and is not done.
    throw refusal('service_unavailable')
  }

  /** What there is of a fork is erased when its source is. */
  const abandon = async ({ sessionId, viewer: { userId } }: Copying, call: Call): Promise<void> => {
    const { status } = await stateOf(call, sessionId)
    if (status === 'forking') await eraseSession({ sessionId, userId }, call)
  }

  const copy = (copying: Copying, call: Call): Promise<Position> =>
    inLine(call.organizationId, async () => {
      const { forkId } = copying.fork
      underWay.add(forkId)
      try {
        return await copyAll(copying, call)
      } catch (error) {
        if (error instanceof KeyDestroyed) throw refusal('session_not_found')
        const isGone = error instanceof Refusal && error.code === 'session_not_found'
        if (isGone) await abandon(copying, call)
        throw error
      } finally {
        underWay.delete(forkId)
      }
    })

  const opened = async (call: Call, sessionId: string, userMessage: SessionCut['userMessage']) => {
    if (!userMessage) return { message: '', files: [] }
    const source = await sourceOf(call, sessionId)
    const files = await arrivedAgain(userMessage.parts ?? [], source)
    return { message: source.key.open(userMessage.content), files }
  }

  return {
    /**
     * @throws session_not_found, message_not_found, session_exists, payload_too_large,
     * service_unavailable
     */
    async fork(
      { viewer, sessionId: source, at, forkSessionId, ...options }: ForkRequest,
      call: Call,
    ): Promise<Forked> {
      const { organizationId, keyId } = call
      const sessionId = forkSessionId ?? idFor(clock, call, 'session')
      const forkId = options.forkId ?? idFor(clock, call, 'fork')
      const isNew = forkSessionId === undefined && call.scope === undefined
      const from = await stateOf(call, source)
      requireSource(viewer, from)
      const target = isNew ? undefined : await load(sessionStream(organizationId, sessionId))
      if (target) requireFree(viewer, forkId, target.state)
      const existing = target?.state.fork
      const cut: SessionCut =
        existing && 'after' in at
          ? existing
          : await findCut(read, { organizationId, sessionId: source }, at)
      const { message, files } = await opened(call, source, cut.userMessage)
      const { copied, ...fork } = existing ?? {
        forkId,
        forkedFrom: source,
        after: cut.after,
        messages: cut.messages,
        copied: 0,
      }
      const { hidden } = from
      const position =
        target?.state.status === 'open'
          ? target.position
          : await copy({ fork, sessionId, isNew, viewer, keyId, hidden, copied }, call)
      return { sessionId, forkedFrom: source, after: fork.after, message, files, position }
    },

    /** Finishes a fork that a process left incomplete; erases it where its source is erased. */
    async finish(view: ForkView): Promise<void> {
      const { session_id, organization_id, fork_id: forkId, forked_from: forkedFrom } = view
      const { after, messages, key_id: keyId, hidden } = view
      const call = systemCall(forkId, clock.now(), organization_id)
      const { fork } = await stateOf(call, session_id)
      if (fork?.forkId !== forkId) return
      const viewer = { userId: view.user_id, onlyKeyId: null }
      const copying = {
        fork: { forkId, forkedFrom, after, messages },
        sessionId: session_id,
        isNew: false,
        viewer,
        keyId,
        hidden,
        copied: fork.copied,
      }
      await copy(copying, call).catch((error: unknown) => {
        if (!(error instanceof Refusal && error.code === 'session_not_found')) throw error
      })
    },

    /** Whether a fork is being copied in this process. */
    isUnderWay: (forkId: string): boolean => underWay.has(forkId),
  }
}
export type ForkSessions = ReturnType<typeof forkSessions>
