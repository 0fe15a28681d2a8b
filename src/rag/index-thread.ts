import { getHeapStatistics } from 'node:v8'
import { workerData } from 'node:worker_threads'
import { serveTasks } from '../support/serve-tasks.ts'
import {
  type DatastoreIndex,
  datastoreIndex,
  type Meaning,
  type Ranked,
} from './datastore-index.ts'

export type IndexLimits = {
  /** For all indexes, in bytes: the least recently used make room. */
  keep: number
  /** For one index, in bytes: it takes no more documents. */
  largest: number
}

/** A request to the thread about the index of one DataStore. Blobs are those of chunks. */
export type IndexTask = { datastoreId: string } & (
  | { ask: 'search'; version: number; query: string; limit: number; meaning?: Meaning }
  /** Begins to bring it to these blobs. */
  | { ask: 'build'; chunksBlobs: readonly string[] }
  | { ask: 'words'; chunksBlob: string; part: Uint8Array }
  | { ask: 'vectors'; chunksBlob: string; vectors: Uint8Array }
  /** All blobs have been added. */
  | { ask: 'built'; version: number }
  | { ask: 'drop' }
)

export type IndexAnswer = {
  /** There is no such index, or not of this version. */
  gone?: true
  words?: Ranked[]
  alike?: Ranked[]
  /** Blobs that are not in it yet. */
  missing?: string[]
  /** Blobs that have no vectors of the model. */
  without?: string[]
  /** It takes no more documents. */
  full?: true
}

const limits: IndexLimits = workerData

/** `version` is the DataStore's once it is built; being built, it is not dropped to make room. */
type Held = { index: DatastoreIndex; version?: number; full: boolean }

/** The least recently used first. */
const held = new Map<string, Held>()

/** The share of an index that removed documents may take before it is built anew. */
const mostDropped = 0.5
/** How much of the thread's heap may be used, whatever the indexes say of themselves. */
const tightShare = 0.8
const isTight = (): boolean => {
  const { used_heap_size: used, heap_size_limit: most } = getHeapStatistics()
  return used > tightShare * most
}

const sizeOfAll = (): number => {
  let size = 0
  for (const { index } of held.values()) size += index.size
  return size
}

const used = (datastoreId: string, entry: Held): void => {
  held.delete(datastoreId)
  held.set(datastoreId, entry)
}

const makeRoom = (except: string): void => {
  let size = sizeOfAll()
  for (const [name, { index, version }] of held) {
    if (size <= limits.keep && !isTight()) return
    if (name === except || version === undefined) continue
    size -= index.size
    held.delete(name)
  }
}

const work = (task: IndexTask): IndexAnswer => {
  const { datastoreId } = task
  if (task.ask === 'drop') {
    held.delete(datastoreId)
    return {}
  }
  if (task.ask === 'build') {
    const { chunksBlobs } = task
    const known = held.get(datastoreId)
    const dropped = known?.index.keep(chunksBlobs) ?? 0
    const isKept = dropped === 0 || (!known?.full && dropped < mostDropped)
    const index = (isKept && known?.index) || datastoreIndex()
    used(datastoreId, { index, full: known?.index === index && known.full })
    return { missing: chunksBlobs.filter((id) => !index.has(id)) }
  }
  const entry = held.get(datastoreId)
  if (!entry) return { gone: true }
  const { index } = entry
  switch (task.ask) {
    case 'search': {
      if (entry.version !== task.version) return { gone: true }
      used(datastoreId, entry)
      const { query, limit, meaning } = task
      const words = index.search(query, limit)
      if (!meaning) return { words }
      const without = index.without(meaning.model)
      return { words, alike: index.alike(meaning, limit), without }
    }
    case 'words':
      if (!entry.full) index.add(task.chunksBlob, task.part)
      makeRoom(datastoreId)
      entry.full ||= index.size > limits.largest || isTight()
      return entry.full ? { full: true } : {}
    case 'vectors':
      if (index.size + task.vectors.length <= limits.largest)
        index.addVectors(task.chunksBlob, task.vectors)
      makeRoom(datastoreId)
      return {}
    case 'built':
      entry.version = task.version
      makeRoom(datastoreId)
      return {}
  }
}

serveTasks<IndexTask, IndexAnswer>((task) => ({ answer: work(task) }))
