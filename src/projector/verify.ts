import { isDeepStrictEqual } from 'node:util'
import type { AnyProjection } from '../../projections/projection.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Document, Views } from '../ports/views.ts'
import { memoryProjectionStore } from './memory-store.ts'
import { replay } from './replay.ts'

/** `missing`: the log makes it and it is not there; `extra`: it is there and the log does not. */
export type DocumentDifference = { id: string; kind: 'missing' | 'extra' | 'other' }

type Verify = {
  store: Pick<EventStore, 'history'>
  views: Views
  projection: AnyProjection
  signal?: AbortSignal
}

/** As every store keeps it: a field that is undefined is none. */
const plain = (document: Document): unknown => JSON.parse(JSON.stringify(document))

/**
 * Folds the log into a fresh view, as far as the live one is folded, and compares the two document
 * by document. Nobody may project meanwhile. @throws what stops the projection
 */
export const verifyProjection = async ({ store, views, projection, signal }: Verify) => {
  const view = await views.view<Document>(projection)
  const projectionStore = memoryProjectionStore(projection)
  const upTo = await views.checkpoint(projection.name)
  await replay({ store, projection, projectionStore, upTo, ...(signal ? { signal } : {}) })
  const differences: DocumentDifference[] = []
  const seen = new Set<string>()
  for await (const batch of view.all())
    for (const { id, document } of batch) {
      seen.add(id)
      const expected = projectionStore.documents.get(id)
      if (!expected) differences.push({ id, kind: 'extra' })
      else if (!isDeepStrictEqual(plain(expected), plain(document)))
        differences.push({ id, kind: 'other' })
    }
  for (const id of projectionStore.documents.keys())
    if (!seen.has(id)) differences.push({ id, kind: 'missing' })
  return { documents: seen.size, differences }
}
export type Verified = Awaited<ReturnType<typeof verifyProjection>>
