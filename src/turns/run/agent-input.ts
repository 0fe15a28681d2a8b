import type { AgentTurn } from '../../agents/turn.ts'
import type { Remembered, Session } from '../../domain/session/session.ts'
import type { ChatMessage, ContentPart } from '../../ports/model.ts'
import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import type { Keyed } from '../../security/vault.ts'
import { openedState, type WaitingState } from '../record/run-result.ts'
import type { TurnRequest } from '../turn.ts'
import { arriving, partsOf, remembered } from './message-parts.ts'

/** Characters of sealed text beyond which a turn of the event loop is its own. */
const largeBox = 65_536

/** Messages of the client that are not in the session, and the part of a turn made of messages. */
export type AgentInput = Omit<WaitingState, 'from'> & {
  turn: Pick<AgentTurn, 'message' | 'parts' | 'history' | 'after' | 'resume'>
}

const none: readonly ChatMessage[] = []

/** Stored history wins over the client's. */
const historyOf = (
  { before, system }: Pick<WaitingState, 'before' | 'system'>,
  { recent }: Pick<Session, 'recent'>,
  key: Keyed,
  files: () => KeyedBlobs,
): readonly ChatMessage[] => {
  const earlier = recent.length > 1 ? remembered(recent.slice(0, -1), key, files()) : before
  return system.length > 0 ? [...system, ...earlier] : earlier
}

/** The files of the message that a turn answers. */
const filesOf = (
  { files: arrived }: Pick<TurnRequest, 'files'>,
  stored: Remembered | undefined,
  key: Keyed,
  files: () => KeyedBlobs,
): ContentPart[] | undefined => {
  const parts = arrived
    ? arrived.parts.map((part) => arriving(part, key, files()))
    : stored?.parts && partsOf(stored, key, files())
  return parts && parts.length > 0 ? parts : undefined
}

/** Whether the state that a turn continues with takes long to open. */
export const isLarge = (session: Session): boolean =>
  (session.waiting?.state.box.length ?? 0) > largeBox

/**
 * The messages that a turn begins with, or continues with where it waits for the client's results.
 */
export const agentInput = (
  request: TurnRequest,
  session: Session,
  key: Keyed,
  files: () => KeyedBlobs,
): AgentInput => {
  const { message, system, before, results, after = none } = request
  const { waiting, recent } = session
  const stored = recent.at(-1)
  if (!results || !waiting) {
    const turn: AgentInput['turn'] = {
      message,
      history: historyOf(request, session, key, files),
    }
    const parts = filesOf(request, stored, key, files)
    if (parts) turn.parts = parts
    if (after.length > 0) turn.after = after
    return { system, before, after, turn }
  }
  const state = openedState(key, waiting.state)
  const parts = filesOf({}, stored, key, files)
  const conversation = {
    system: system.length > 0 ? system : state.system,
    before: before.length > 0 ? before : state.before,
    after: state.after,
  }
  return {
    ...conversation,
    turn: {
      message: stored ? key.open(stored.content) : '',
      ...(parts ? { parts } : {}),
      history: historyOf(conversation, session, key, files),
      ...(state.after.length > 0 ? { after: state.after } : {}),
      resume: {
        from: state.from,
        results: new Map(results.map(({ toolId, content }) => [toolId, content])),
      },
    },
  }
}
