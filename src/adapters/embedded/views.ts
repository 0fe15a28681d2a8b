import type { Key } from 'lmdb'
import { StoreUnavailable } from '../../ports/event-store.ts'
import type {
  Document,
  Find,
  Found,
  Generation,
  Scalar,
  View,
  ViewSpec,
  Views,
} from '../../ports/views.ts'
import { viewsCache } from './views-cache.ts'
import {
  checkpointKey,
  idIn,
  type StoredIndex,
  type StoredTable,
  viewsCatalog,
} from './views-catalog.ts'
import type { ViewsEnv } from './views-env.ts'
import {
  assertId,
  countKey,
  documentKey,
  entryKey,
  type Place,
  placer,
  rangeOf,
  samePlace,
  whole,
} from './views-keys.ts'

/** Changes wait in memory for each other: a document that changes often is written once. */
const writeAfterMs = 25
const writeAtChanges = 4096
const pageSize = 500

/** A generation of a read model: as stored, and what is not written yet. */
type Table = StoredTable & {
  placers: readonly (StoredIndex & { place: ReturnType<typeof placer> })[]
  checkpoint: number
  changed: Map<string, Document | undefined>
}

/** Tells apart what differs in type only. */
const nameOf = (keyspace: number, equals: Place): string => {
  let name = `${keyspace}`
  for (const value of equals) name += `\0${typeof value === 'string' ? '"' : ''}${value}`
  return name
}

type Model = { spec: ViewSpec; live: Table; rebuild?: Table }

/**
 * Read models in lmdb. A commit holds at once for every reader; documents, index entries, counts
 * and checkpoints of all the commits of some 25 ms are written in one transaction, so that killing
 * the process loses the last commits whole, and they are folded again. Counts are kept, not
 * counted; only a range is. Documents are handed out as they are kept: never change one.
 * @throws StoreUnavailable where the disk refuses a write
 */
export const embeddedViews = ({ root, close }: ViewsEnv): Views => {
  const options = { name: 'views', encoder: { useRecords: false } }
  const db = root.openDB<unknown, Key>(options)
  const catalog = viewsCatalog(db)
  const cache = viewsCache()
  const models = new Map<string, Model>()
  const dirty = new Set<Table>()
  let waiting = 0
  let timer: NodeJS.Timeout | undefined
  let refused: StoreUnavailable | undefined
  let closed = false
  let cleaning = Promise.resolve()

  const tableOf = (stored: StoredTable): Table => ({
    ...stored,
    checkpoint: catalog.checkpoint(stored),
    changed: new Map(),
    placers: Object.values(stored.indexes).map((index) => ({ ...index, place: placer(index) })),
  })

  const modelOf = (view: string): Model => {
    const model = models.get(view)
    if (!model) throw new TypeError(`no read model is called ${view}`)
    return model
  }

  const generationOf = (view: string, generation: Generation = 'live'): Table => {
    const table = modelOf(view)[generation]
    if (!table) throw new TypeError(`${view} is not being rebuilt`)
    return table
  }

  const stored = ({ documents }: Table, id: string): Document | undefined =>
    cache.get(documents, id, () => db.get(documentKey(documents, id)) as Document | undefined)

  const current = (table: Table, id: string): Document | undefined =>
    table.changed.has(id) ? table.changed.get(id) : stored(table, id)

  /** Writes one document and what changes in its indexes. */
  const writeDocument = (
    table: Table,
    id: string,
    after: Document | undefined,
    count: (keyspace: number, place: Place, delta: number) => void,
  ) => {
    const before = stored(table, id)
    if (before === after) return
    const key = documentKey(table.documents, id)
    if (after) db.putSync(key, after)
    else db.removeSync(key)
    for (const { place, equals, entries, counts } of table.placers) {
      const old = place(before)
      const now = place(after)
      if (samePlace(old, now)) continue
      if (old) db.removeSync(entryKey(entries, old, id))
      if (now) db.putSync(entryKey(entries, now, id), null)
      if (samePlace(old, now, equals.length)) continue
      if (old) count(counts, old.slice(0, equals.length), -1)
      if (now) count(counts, now.slice(0, equals.length), 1)
    }
  }

  const writeAll = () => {
    const deltas = new Map<string, { key: Key; delta: number }>()
    const count = (keyspace: number, equals: Place, delta: number) => {
      const name = nameOf(keyspace, equals)
      const known = deltas.get(name)
      if (known) known.delta += delta
      else deltas.set(name, { key: countKey(keyspace, equals), delta })
    }
    for (const table of dirty) {
      for (const [id, after] of table.changed) writeDocument(table, id, after, count)
      db.putSync(checkpointKey(table), table.checkpoint)
    }
    for (const { key, delta } of deltas.values()) {
      if (delta === 0) continue
      const total = ((db.get(key) as number | undefined) ?? 0) + delta
      if (total === 0) db.removeSync(key)
      else db.putSync(key, total)
    }
  }

  const write = () => {
    clearTimeout(timer)
    timer = undefined
    if (dirty.size === 0) return
    try {
      db.transactionSync(writeAll)
    } catch (error) {
      refused = new StoreUnavailable('the views cannot be written', { cause: error })
      throw refused
    }
    refused = undefined
    for (const table of dirty) {
      for (const [id, after] of table.changed) cache.set(table.documents, id, after)
      table.changed.clear()
    }
    dirty.clear()
    waiting = 0
  }

  /** Whoever commits next is told when this fails. */
  const writeSoon = () => {
    timer ??= setTimeout(() => {
      try {
        write()
      } catch {}
    }, writeAfterMs).unref()
  }

  const indexOf = (table: Table, name: string, equals: readonly Scalar[]) => {
    const index = table.indexes[name]
    if (!index) throw new TypeError(`no index is called ${name}`)
    if (index.equals.length !== equals.length)
      throw new TypeError(`${name} is asked by ${index.equals.join(', ')}`)
    if (table.changed.size > 0) write()
    return index
  }

  const find = (table: Table, query: Find): Found<Document> => {
    const { index: name, equals, from, below, descending = false, skip = 0, limit } = query
    const index = indexOf(table, name, equals)
    const { start, end } = rangeOf(index.entries, query)
    const page = { reverse: descending, offset: skip, limit }
    const keys =
      limit > 0
        ? db.getKeys({ ...(descending ? { start: end, end: start } : { start, end }), ...page })
        : []
    const items: Document[] = []
    for (const key of keys) {
      const document = stored(table, idIn(key))
      if (document) items.push(document)
    }
    const total =
      from === undefined && below === undefined
        ? ((db.get(countKey(index.counts, equals)) as number | undefined) ?? 0)
        : db.getKeysCount({ start, end })
    return { items, total }
  }

  /** As of its first batch, whatever is committed meanwhile; ends with its reader. */
  async function* all(table: Table): AsyncGenerator<{ id: string; document: Document }[]> {
    if (table.changed.size > 0) write()
    const transaction = root.useReadTransaction()
    try {
      for (let { start, end } = whole(table.documents); ; ) {
        const page = [...db.getRange({ start, end, limit: pageSize + 1, transaction })]
        const batch = page.slice(0, pageSize)
        if (batch.length > 0)
          yield batch.map(({ key, value }) => ({ id: idIn(key), document: value as Document }))
        const next = page[pageSize]
        if (!next) return
        start = next.key
      }
    } finally {
      transaction.done()
    }
  }

  /** What cannot be removed now is, after the next start. */
  const clean = () => {
    cleaning = cleaning.then(() => catalog.clean(() => closed)).catch(() => undefined)
  }
  clean()

  return {
    async view<Doc>(spec: ViewSpec) {
      write()
      const { live, rebuild } = catalog.declare(spec)
      const model: Model = {
        spec,
        live: tableOf(live),
        ...(rebuild && { rebuild: tableOf(rebuild) }),
      }
      models.set(spec.name, model)
      clean()
      const view: View<Document> = {
        get: async (id) => current(modelOf(spec.name).live, id),
        find: async (query) => find(modelOf(spec.name).live, query),
        all: () => all(modelOf(spec.name).live),
      }
      return view as View<Doc>
    },

    checkpoint: async (view, generation) => generationOf(view, generation).checkpoint,

    async load(view, ids, generation) {
      const table = generationOf(view, generation)
      const documents = new Map<string, Document>()
      for (const id of ids) {
        const document = current(table, id)
        if (document) documents.set(id, document)
      }
      return documents
    },

    async idsOf(view, name, equals, generation) {
      const table = generationOf(view, generation)
      const index = indexOf(table, name, equals)
      return [...db.getKeys(rangeOf(index.entries, { equals }))].map(idIn)
    },

    async commit(commits, generation) {
      if (refused) write()
      const due = commits
        .map((commit) => ({ ...commit, table: generationOf(commit.view, generation) }))
        .filter(({ table, position }) => position > table.checkpoint)
      for (const { changes } of due) for (const { id } of changes) assertId(id)
      for (const { table, changes, position } of due) {
        for (const { id, document } of changes) table.changed.set(id, document)
        waiting += changes.length
        table.checkpoint = position
        dirty.add(table)
      }
      if (waiting >= writeAtChanges) write()
      else if (dirty.size > 0) writeSoon()
    },

    async beginRebuild(view) {
      const { spec, live } = modelOf(view)
      write()
      models.set(view, { spec, live, rebuild: tableOf(catalog.beginRebuild(spec)) })
      clean()
    },

    async swap(view) {
      const { spec } = modelOf(view)
      const rebuild = generationOf(view, 'rebuild')
      write()
      catalog.swap(view)
      models.set(view, { spec, live: rebuild })
      clean()
    },

    async close() {
      if (closed) return
      write()
      closed = true
      await cleaning
      await close()
    },
  }
}
