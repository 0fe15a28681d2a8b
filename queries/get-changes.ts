import { isDeepStrictEqual } from 'node:util'
import { publicDocument } from '../projections/projection.ts'
import { refusal } from '../src/domain/refusal.ts'
import { START } from '../src/ports/event-store.ts'
import type { Document } from '../src/ports/views.ts'
import { firstPart } from '../src/support/in-parts.ts'
import { inTurns, sortedInTurns } from '../src/support/in-turns.ts'
import { findReadModel } from './find-read-model.ts'
import { type Moment, namedUnreadable, type StateUses, storedState } from './get-state.ts'
import { opener, pageBytes, weighed } from './opened.ts'

type Change = {
  id: string
  change: 'new' | 'changed' | 'gone'
  before: Document | null
  after: Document | null
}

export type ChangesQuery = {
  organizationId: string
  view: string
  from: Moment
  to: Moment
  /** Continue after the document with this id. */
  after?: string | undefined
  limit: number
}

/** Whether the second of two moments is before the first, judged without the log. */
const isReversed = (from: Moment, to: Moment): boolean =>
  (from.position ?? START) > (to.position ?? Infinity) ||
  (from.time ?? -Infinity) > (to.time ?? Infinity)

const reversed = () => refusal('invalid_query', { fields: { to: ['It is before from'] } })

/**
 * The difference of two states of a read model: the documents of an organization that are not the
 * same in both, by id, as they are shown. @throws read_model_not_found, state_too_large,
 * invalid_query
 */
export const getChanges = ({ open, ...uses }: StateUses) => {
  const opened = opener(open)
  const stored = storedState(uses)
  return async ({ organizationId, view, from, to, after, limit }: ChangesQuery) => {
    const model = findReadModel(view)
    if (isReversed(from, to)) throw reversed()
    const earlier = await stored(organizationId, model, from)
    const later = await stored(organizationId, model, to)
    if (earlier.position > later.position) throw reversed()

    const seen = (document: Document | undefined) => document && publicDocument(model, document)
    const differs = (id: string): boolean =>
      !isDeepStrictEqual(seen(earlier.documents.get(id)), seen(later.documents.get(id)))
    const all = new Set([...earlier.documents.keys(), ...later.documents.keys()])
    const different: string[] = []
    for await (const some of inTurns(all)) different.push(...some.filter(differs))
    const ids = await sortedInTurns(different)

    const changeOf = (id: string) =>
      weighed(async (charge): Promise<Change> => {
        const [was, is] = [earlier.documents.get(id), later.documents.get(id)]
        return {
          id,
          change: was ? (is ? 'changed' : 'gone') : 'new',
          before: was ? await opened.document(model, was, charge) : null,
          after: is ? await opened.document(model, is, charge) : null,
        }
      })
    const rest = after === undefined ? ids : ids.filter((id) => id > after)
    const changes = await firstPart(rest.slice(0, limit), changeOf, pageBytes)
    const last = changes.at(-1)?.id
    return {
      from: earlier.position,
      to: later.position,
      total: ids.length,
      changes,
      next_after: last !== undefined && last !== ids.at(-1) ? last : null,
      ...namedUnreadable(later),
    }
  }
}
export type GetChanges = ReturnType<typeof getChanges>
