import { type RunView, type TreeView, transparency } from '../../projections/transparency.ts'
import { readTree } from '../../queries/read-tree.ts'
import { batchFolder, commitsOf } from '../../src/batch.ts'
import type { Lane } from '../../src/fold.ts'
import { memorySink } from '../../src/memory-sink.ts'
import { type RecordedEvent, START } from '../../src/ports/event-store.ts'

/** Folded in batches of these lengths, over and over. */
export const folded = async (log: readonly RecordedEvent[], lengths: readonly number[]) => {
  const sink = memorySink(transparency)
  const fold = batchFolder([transparency])
  const lane: Lane = { projection: transparency, position: START }
  for (let at = 0, n = 0; at < log.length; n++) {
    const length = lengths[n % lengths.length] ?? 1
    const outcomes = await fold(sink, [lane], log.slice(at, at + length))
    await sink.commit(commitsOf(outcomes))
    for (const { position, error } of outcomes) Object.assign(lane, { position, error })
    at += length
  }
  if (lane.error) throw lane.error
  return sink.documents
}

/** The trees that these documents are. */
export const treesIn = (documents: Awaited<ReturnType<typeof folded>>) =>
  readTree({
    get: async (id) => documents.get(id) as TreeView | RunView | undefined,
    find: async () => ({ items: [], total: 0 }),
    all: () => (async function* () {})(),
  })
