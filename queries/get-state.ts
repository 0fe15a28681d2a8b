import type { ReadModel } from '../projections/projection.ts'
import type { Position } from '../src/domain/event.ts'
import { START } from '../src/ports/event-store.ts'
import type { Document } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'
import { firstPart, inParts } from '../src/support/in-parts.ts'
import { inTurns, sortedInTurns } from '../src/support/in-turns.ts'
import type { FindPosition } from './find-position.ts'
import { findReadModel } from './find-read-model.ts'
import { opener, pageBytes, partBytes, partItems, weighed } from './opened.ts'

/** A place in the log, or a time in milliseconds since 1970; neither: now. */
export type Moment = { position?: Position | undefined; time?: number | undefined }

type State = {
  documents: ReadonlyMap<string, Document>
  position: Position
  /** The organization's unreadable events. */
  setAside?: readonly SetAsideEvent[]
}

type SetAsideEvent = {
  position: Position
  stream: string
  revision: number
  type: string
  reason: string
}

/** How many unreadable events an answer lists. */
const mostNamed = 100

/** The unreadable events missing in a state, if any. */
export const namedUnreadable = ({ setAside = [] }: Pick<State, 'setAside'>) =>
  setAside.length > 0 ? { unreadable_events: setAside.slice(0, mostNamed) } : {}

type StateDocument = { id: string; document: Document }

export type StateUses = {
  /** A read model folded from an organization's events up to a position. */
  stateAt(organizationId: string, projection: ReadModel, upTo: Position): Promise<State>
  findPosition: FindPosition
  head(): Promise<Position>
  open: Vault['open']
}

/**
 * The documents of a read model that an organization had at some time, by id, as they are stored.
 */
export const storedState =
  ({ stateAt, findPosition, head }: Omit<StateUses, 'open'>) =>
  async (organizationId: string, model: ReadModel, { position, time }: Moment): Promise<State> => {
    const upTo =
      time === undefined ? (position ?? (await head())) : await findPosition(organizationId, time)
    if (upTo <= START) return { documents: new Map(), position: START }
    const state = await stateAt(organizationId, model, upTo)
    const documents = new Map<string, Document>()
    for await (const some of inTurns(state.documents))
      for (const [id, document] of some)
        if (document.organization_id === organizationId) documents.set(id, document)
    return { ...state, documents }
  }

/**
 * The documents of a read model that an organization had at some time, by id, as they are shown.
 * `position` is the last event of the organization in them, -1 where there was none.
 * @throws read_model_not_found, state_too_large
 */
export const getState = ({ open, ...uses }: StateUses) => {
  const opened = opener(open)
  const stored = storedState(uses)
  return async (organizationId: string, view: string, moment: Moment) => {
    const model = findReadModel(view)
    const state = await stored(organizationId, model, moment)
    const ids = await sortedInTurns(state.documents.keys())

    const documentOf = (id: string) =>
      weighed(async (charge): Promise<StateDocument> => {
        const document = state.documents.get(id) ?? {}
        return { id, document: await opened.document(model, document, charge) }
      })

    const idsAfter = (from: string | undefined, limit: number): string[] => {
      const start = from === undefined ? 0 : ids.findIndex((id) => id > from)
      return start < 0 ? [] : ids.slice(start, start + limit)
    }

    /** Documents after an id, in batches, as fast as they are consumed. */
    async function* after(
      from: string | undefined,
      limit = Infinity,
    ): AsyncGenerator<StateDocument[]> {
      const page = idsAfter(from, limit)
      yield* inParts(page, documentOf, { bytes: partBytes, items: partItems })
    }

    return {
      position: state.position,
      named: namedUnreadable(state),
      total: ids.length,
      after,
      async page(from: string | undefined, limit: number) {
        const documents = await firstPart(idsAfter(from, limit), documentOf, pageBytes)
        const last = documents.at(-1)?.id
        const more = last !== undefined && last !== ids.at(-1)
        return { documents, next_after: more ? last : null }
      },
    }
  }
}
