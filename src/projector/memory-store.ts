import type { AnyProjection } from '../../projections/projection.ts'
import type { Document } from '../ports/views.ts'
import type { ProjectionStore } from './batch.ts'
import { matchesIndex } from './fold.ts'

/** A store for one projection that keeps its documents in memory, for replays. */
export const memoryProjectionStore = ({
  indexes,
}: AnyProjection): ProjectionStore & { documents: ReadonlyMap<string, Document> } => {
  const documents = new Map<string, Document>()
  return {
    documents,
    load: async () => documents,
    idsOf: async (_view, index, equals) => {
      const paths = indexes[index]?.equals
      if (!paths) throw new TypeError(`no index ${index}`)
      return [...documents]
        .filter(([, view]) => matchesIndex(view, paths, equals))
        .map(([id]) => id)
    },
    async commit(commits) {
      for (const { changes } of commits)
        for (const { id, document } of changes)
          if (document) documents.set(id, document)
          else documents.delete(id)
    },
  }
}
