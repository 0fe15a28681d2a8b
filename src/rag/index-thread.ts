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

/** What the thread is asked about the index of one DataStore. */
export type IndexTask = { index: string } & (
  | { ask: 'search'; version: number; query: string; limit: number; meaning?: Meaning }
  /** Begins to bring it to these uploads. */
  | { ask: 'build'; uploads: readonly string[] }
  | { ask: 'words'; upload: string; part: Uint8Array }
  | { ask: 'vectors'; upload: string; blob: Uint8Array }
  /** All uploads have been added. */
  | { ask: 'built'; version: number }
  | { ask: 'drop' }
)

export type IndexAnswer = {
  /** There is no such index, or not of this version. */
  gone?: true
  words?: Ranked[]
  alike?: Ranked[]
  /** Uploads that are not in it yet. */
  missing?: string[]
  /** Uploads that have no vectors of the model. */
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

const used = (name: string, entry: Held): void => {
  held.delete(name)
  held.set(name, entry)
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
  const { index: name } = task
  if (task.ask === 'drop') {
    held.delete(name)
    return {}
  }
  if (task.ask === 'build') {
    const { uploads } = task
    const known = held.get(name)
    const dropped = known?.index.keep(uploads) ?? 0
    const isKept = dropped === 0 || (!known?.full && dropped < mostDropped)
    const index = (isKept && known?.index) || datastoreIndex()
    used(name, { index, full: known?.index === index && known.full })
    return { missing: uploads.filter((id) => !index.has(id)) }
  }
  const entry = held.get(name)
  if (!entry) return { gone: true }
  const { index } = entry
  switch (task.ask) {
    case 'search': {
      if (entry.version !== task.version) return { gone: true }
      used(name, entry)
      const { query, limit, meaning } = task
      const words = index.search(query, limit)
      if (!meaning) return { words }
      const without = index.without(meaning.model)
      return { words, alike: index.alike(meaning, limit), without }
    }
    case 'words':
      if (!entry.full) index.add(task.upload, task.part)
      makeRoom(name)
      entry.full ||= index.size > limits.largest || isTight()
      return entry.full ? { full: true } : {}
    case 'vectors':
      if (index.size + task.blob.length <= limits.largest) index.addVectors(task.upload, task.blob)
      makeRoom(name)
      return {}
    case 'built':
      entry.version = task.version
      makeRoom(name)
      return {}
  }
}

serveTasks<IndexTask, IndexAnswer>((task) => ({ answer: work(task) }))
