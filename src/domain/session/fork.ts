import { refusal } from '../refusal.ts'
import type { SessionEvent } from './events.ts'
import type { Fork, Session } from './session.ts'
import { isOwn, type Viewer } from './viewer.ts'

/** The most that one fork copies: messages, characters of sealed texts, bytes of files. */
export const mostForked = { messages: 10_000, characters: 22_369_622, files: 33_554_432 }

/** Which messages a fork has. */
export type Cut = Pick<Fork, 'after' | 'messages'>

export type ForkedMessage = SessionEvent<'MessageForked'>['data']

export type ForkPiece = {
  fork: Fork
  /** Whose the fork is. */
  viewer: Viewer
  keyId: string | null
  hidden: boolean
  node: string
  /** How many messages come before these. */
  at: number
  messages: readonly ForkedMessage[]
}

/** Only a session of the viewer is forked. @throws session_not_found */
export const requireSource = (viewer: Viewer, source: Session): void => {
  if (source.status !== 'open' || !isOwn(viewer, source)) throw refusal('session_not_found')
}

/**
 * The id of a fork is new, or was taken by the same fork. @throws session_exists where it is the
 * viewer's session, session_not_found where it is another's or was erased
 */
export const requireFree = (viewer: Viewer, forkId: string, state: Session): void => {
  if (state.status === 'unknown' || state.fork?.forkId === forkId) return
  const own = state.status !== 'erased' && isOwn(viewer, state)
  throw refusal(own ? 'session_exists' : 'session_not_found')
}

/**
 * The next messages of a fork; with the last of them it is a session. Messages that are there are
 * not copied again, nor those before which some are missing. @throws session_not_found,
 * session_exists
 */
export const decideFork =
  ({ fork, viewer, keyId, hidden, node, at, messages }: ForkPiece) =>
  (state: Session): SessionEvent<'ForkBegun' | 'MessageForked' | 'SessionForked'>[] => {
    requireFree(viewer, fork.forkId, state)
    const isFirst = state.status === 'unknown'
    if (!isFirst && state.status !== 'forking') return []
    const copied = state.fork?.copied ?? 0
    if (copied !== at) return []
    const { forkId, ...cut } = fork
    const origin = { userId: viewer.userId, keyId, hidden, ...cut }
    const events: ReturnType<ReturnType<typeof decideFork>> = messages.map((data) => ({
      type: 'MessageForked',
      data,
    }))
    if (isFirst) events.unshift({ type: 'ForkBegun', data: { ...origin, forkId, node } })
    if (copied + messages.length === fork.messages)
      events.push({ type: 'SessionForked', data: origin })
    return events
  }
