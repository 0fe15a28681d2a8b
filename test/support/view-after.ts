import type { Projection } from '../../projections/projection.ts'
import type { EventTable } from '../../src/domain/aggregate.ts'
import type { Document, View } from '../../src/ports/views.ts'
import { type Given, recordedOn } from './given.ts'
import { foldedOneByOne } from './sequential-feed.ts'
import { model } from './views-model.ts'

/** A read model after these events, in memory, for queries. */
export const viewAfter = <Doc extends Document, Table extends EventTable>(
  projection: Projection<Doc, Table>,
  stream: string,
  ...events: Given<Table>[]
): View<Doc> => {
  const documents = new Map(
    Object.entries(foldedOneByOne(projection, recordedOn(stream, events))) as [string, Doc][],
  )
  const view = model(projection)
  view.commit([...documents].map(([id, document]) => ({ id, document })))
  return {
    get: async (id) => documents.get(id),
    find: async (query) => {
      const { items, total } = view.find(query)
      return { items: items as Doc[], total }
    },
    async *all() {
      yield [...documents].map(([id, document]) => ({ id, document }))
    },
  }
}
