import type { AnyProjection } from '../../projections/projection.ts'
import { type NodesView, type TreeView, transparency } from '../../projections/transparency.ts'
import { readTree } from '../../queries/read-tree.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import type { View } from '../../src/ports/views.ts'
import { batchFolder } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import type { Cursor } from '../../src/projector/router.ts'
import { batchOf } from './recorded.ts'

/** Folded in batches of these lengths, over and over. */
export const foldLog = async (
  log: readonly RecordedEvent[],
  lengths: readonly number[],
  projection: AnyProjection = transparency,
) => {
  const projectionStore = memoryProjectionStore(projection)
  const fold = batchFolder([projection])
  const cursor: Cursor = { projection, position: START }
  for (let from = 0, n = 0; from < log.length; n++) {
    const to = from + (lengths[n % lengths.length] ?? 1)
    const outcomes = await fold(projectionStore, [cursor], batchOf(log.slice(from, to)))
    await projectionStore.commit(outcomes)
    for (const { position, error } of outcomes) Object.assign(cursor, { position, error })
    from = to
  }
  if (cursor.error) throw cursor.error
  return projectionStore.documents
}

/** The trees that these documents are. */
export const treesIn = (documents: Awaited<ReturnType<typeof foldLog>>) => {
  const view: View<TreeView | NodesView> = {
    get: async (id) => documents.get(id) as TreeView | NodesView | undefined,
    find: async () => ({ items: [], total: 0 }),
    all: () => (async function* () {})(),
  }
  return readTree({ transparency: view, platformTransparency: view })
}
