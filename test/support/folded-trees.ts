import { type NodesView, type TreeView, transparency } from '../../projections/transparency.ts'
import { readTree } from '../../queries/read-tree.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'
import { batchFolder, commitsOf } from '../../src/projector/batch.ts'
import { memoryProjectionStore } from '../../src/projector/memory-store.ts'
import type { Cursor } from '../../src/projector/router.ts'

/** Folded in batches of these lengths, over and over. */
export const folded = async (log: readonly RecordedEvent[], lengths: readonly number[]) => {
  const projectionStore = memoryProjectionStore(transparency)
  const fold = batchFolder([transparency])
  const cursor: Cursor = { projection: transparency, position: START }
  for (let at = 0, n = 0; at < log.length; n++) {
    const length = lengths[n % lengths.length] ?? 1
    const outcomes = await fold(projectionStore, [cursor], log.slice(at, at + length))
    await projectionStore.commit(commitsOf(outcomes))
    for (const { position, error } of outcomes) Object.assign(cursor, { position, error })
    at += length
  }
  if (cursor.error) throw cursor.error
  return projectionStore.documents
}

/** The trees that these documents are. */
export const treesIn = (documents: Awaited<ReturnType<typeof folded>>) =>
  readTree({
    get: async (id) => documents.get(id) as TreeView | NodesView | undefined,
    find: async () => ({ items: [], total: 0 }),
    all: () => (async function* () {})(),
  })
