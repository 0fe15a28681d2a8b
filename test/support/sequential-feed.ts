import type { Test } from 'tap'
import {
  type AnyProjection,
  type EventProjection,
  type LogProjection,
  projected,
} from '../../projections/projection.ts'
import { decoder } from '../../src/event-sourcing/codec.ts'
import { type EventStore, type RecordedEvent, START } from '../../src/ports/event-store.ts'
import type { Document, Views } from '../../src/ports/views.ts'
import { gathered } from './noted.ts'

type Documents = Record<string, Document>

const at = (document: Document, path: string) =>
  path.split('.').reduce<unknown>((value, key) => Reflect.get(Object(value), key), document)

const ofLog = ({ stored }: LogProjection<Document>, log: readonly RecordedEvent[]) => {
  const documents = new Map<string, Document>()
  for (const recorded of log) {
    const id = stored.id(recorded)
    if (id === undefined) continue
    const { view, others } = stored.fold(documents.get(id), [recorded], id)
    for (const { id: other, document } of [{ id, document: view }, ...others])
      if (document) documents.set(other, document)
      else documents.delete(other)
  }
  return documents
}

const ofEvents = (projection: EventProjection, log: readonly RecordedEvent[]) => {
  const documents = new Map<string, Document>()
  for (const recorded of log) {
    if (!projection.categories.includes(recorded.stream.split('-')[0] ?? '')) continue
    const event = decoder(projection.events)(recorded)
    const clear = projection.clears?.[event.type]?.(event)
    if (clear)
      for (const [id, document] of [...documents]) {
        const paths = projection.indexes[clear.index]?.equals ?? []
        if (!paths.every((path, n) => at(document, path) === clear.equals[n])) continue
        if (projection.remainder) documents.set(id, projection.remainder(document))
        else documents.delete(id)
      }
    for (const id of [projection.id(event)].flat()) {
      const { totals } = projection
      if (totals?.isTotal(id)) continue
      const before = documents.get(id)
      const document = projected(projection, before, event, id)
      if (document) documents.set(id, document)
      else documents.delete(id)
      const view = document ?? before
      if (!totals || !view || document === before) continue
      const total = totals.idOf(view)
      const moved = totals.moved(documents.get(total), before, document)
      if (moved) documents.set(total, moved)
      else documents.delete(total)
    }
  }
  return documents
}

/** What a projection comes to, one event after the other, in the plainest way. */
export const foldedOneByOne = (
  projection: AnyProjection,
  log: readonly RecordedEvent[],
): Documents => {
  const documents = 'stored' in projection ? ofLog(projection, log) : ofEvents(projection, log)
  return Object.fromEntries([...documents].sort())
}

/** Every document of a read model as it is stored. */
const stored = async (views: Views, projection: AnyProjection): Promise<Documents> => {
  const documents: [string, Document][] = []
  const view = await views.view<Document>(projection)
  for await (const batch of view.all())
    for (const { id, document } of batch) documents.push([id, document])
  return Object.fromEntries(documents)
}

/** Read models are what the whole log comes to. */
export const asStraight = async (
  t: Test,
  store: EventStore,
  views: Views,
  projections: readonly AnyProjection[],
): Promise<void> => {
  const log = await gathered(store.history(START))
  for (const projection of projections)
    t.strictSame(await stored(views, projection), foldedOneByOne(projection, log), projection.name)
}
