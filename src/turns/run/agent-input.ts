import type { Sent } from '../../../commands/send-message.ts'
import { defaultLimits } from '../../agents/agent-runtime.ts'
import { trimmed } from '../../agents/context.ts'
import { showing } from '../../agents/parts.ts'
import type { AgentTurn } from '../../agents/turn.ts'
import { refusal } from '../../domain/refusal.ts'
import type { Sealed } from '../../domain/sealed.ts'
import type { SessionEvent } from '../../domain/session/events.ts'
import type { Remembered } from '../../domain/session/session.ts'
import type { ChatMessage, ContentPart } from '../../ports/model.ts'
import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import type { Keyed } from '../../security/vault.ts'
import type { TurnRequest } from '../turn.ts'
import { type Kept, openedState, sealedState } from './client-calls.ts'
import type { Driven } from './drive.ts'
import { arriving, partsOf, remembered } from './message-parts.ts'

/** Characters of sealed text beyond which a turn of the event loop is its own. */
const largeBox = 65_536

/** What the client said that is not in the session, and what the agents are given of a turn. */
type Given = Omit<Kept, 'from'> & {
  turn: Pick<AgentTurn, 'message' | 'parts' | 'history' | 'after' | 'resume'>
}

const none: readonly ChatMessage[] = []

/** Stored history wins over what the client says came before. */
const historyOf = (
  { before, system }: Pick<Kept, 'before' | 'system'>,
  { session }: Pick<Sent, 'session'>,
  key: Keyed,
  files: () => KeyedBlobs,
): readonly ChatMessage[] => {
  const { recent } = session
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

/** Whether what a turn goes on with takes long to open. */
export const isLarge = ({ session }: Sent): boolean =>
  (session.waiting?.state.box.length ?? 0) > largeBox

/**
 * What a turn begins with: its message, or the turn that waits for the client's results with all that
 * was said in it.
 */
export const givenOf = (
  request: TurnRequest,
  sent: Pick<Sent, 'session'>,
  key: Keyed,
  files: () => KeyedBlobs,
): Given => {
  const { message, system, before, results, after = none } = request
  const { waiting, recent } = sent.session
  const asked = recent.at(-1)
  if (!results || !waiting) {
    const turn: Given['turn'] = { message, history: historyOf(request, sent, key, files) }
    const parts = filesOf(request, asked, key, files)
    if (parts) turn.parts = parts
    if (after.length > 0) turn.after = after
    return { system, before, after, turn }
  }
  const kept = openedState(key, waiting.state)
  const parts = filesOf({}, asked, key, files)
  const said = {
    system: system.length > 0 ? system : kept.system,
    before: before.length > 0 ? before : kept.before,
    after: kept.after,
  }
  return {
    ...said,
    turn: {
      message: asked ? key.open(asked.content) : '',
      ...(parts ? { parts } : {}),
      history: historyOf(said, sent, key, files),
      ...(kept.after.length > 0 ? { after: kept.after } : {}),
      resume: {
        from: kept.from,
        results: new Map(results.map(({ toolId, content }) => [toolId, content])),
      },
    },
  }
}

/** How a turn ended, with the steps to store and, where it waits for the client, its sealed state. */
export type Ended = Driven & { steps: readonly SessionEvent[]; state?: Sealed }

/** Seals what a turn waits with. One that would keep too much has failed. */
export const withState = async (
  driven: Driven & { steps: readonly SessionEvent[] },
  { system, before, after }: Given,
  key: Keyed,
): Promise<Ended> => {
  const { suspended: from, ...done } = driven.done
  if (driven.ended !== 'done' || !from) return driven
  // Files of what was said elsewhere are not kept.
  const shown = trimmed(before, defaultLimits.context).map((one) => showing(one, () => false))
  const state = await sealedState(key, { system, before: shown, after, from })
  if (state) return { ...driven, done, state }
  const refused = refusal('context_length_exceeded')
  return { ended: 'failed', done, refusal: refused, steps: driven.steps }
}
