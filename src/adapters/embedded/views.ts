import type { Key } from 'lmdb'
import type { Document, Generation, View, ViewSpec, Views } from '../../ports/views.ts'
import { requireStorable } from '../storable.ts'
import { type Table, tableOf, viewsBuffer } from './views-buffer.ts'
import { viewsCatalog } from './views-catalog.ts'
import type { ViewsEnv } from './views-env.ts'
import { assertId } from './views-keys.ts'
import { viewsReader } from './views-reader.ts'

type Model = { spec: ViewSpec; live: Table; rebuild?: Table }

/**
 * Read models in lmdb. Readers see a commit at once. Documents, index entries, counts and
 * checkpoints of all commits within some 100 ms are written in one transaction; a killed process
 * loses the last commits whole, and they are folded again. Totals are stored, and counted only for
 * a range. Never change a document that was read: it is not a copy.
 * @throws StoreUnavailable when the disk refuses a write
 */
export const embeddedViews = ({ root, close }: ViewsEnv): Views => {
  const options = { name: 'views', encoder: { useRecords: false } }
  const db = root.openDB<unknown, Key>(options)
  const catalog = viewsCatalog(db)
  const buffer = viewsBuffer(db)
  const reader = viewsReader(db, buffer)
  const models = new Map<string, Model>()
  let closed = false
  let cleaning = Promise.resolve()

  const opened = (stored: Parameters<typeof tableOf>[0]) =>
    tableOf(stored, catalog.checkpoint(stored))

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

  /** Removes abandoned keyspaces; those left at an error are removed after the next start. */
  const clean = () => {
    cleaning = cleaning.then(() => catalog.clean(() => closed)).catch(() => undefined)
  }
  clean()

  return {
    async view<Doc>(spec: ViewSpec) {
      buffer.write()
      const { live, rebuild } = catalog.declare(spec)
      models.set(spec.name, {
        spec,
        live: opened(live),
        ...(rebuild && { rebuild: opened(rebuild) }),
      })
      clean()
      const table = () => generationOf(spec.name)
      const view: View<Document> = {
        get: async (id) => buffer.current(table(), id),
        find: async (query) => reader.find(table(), query),
        all: () => reader.all(table()),
      }
      return view as View<Doc>
    },

    async checkpoint(view, generation) {
      buffer.requireWritten()
      return generationOf(view, generation).checkpoint
    },

    async load(view, ids, generation) {
      const table = generationOf(view, generation)
      const documents = new Map<string, Document>()
      for (const id of ids) {
        const document = buffer.current(table, id)
        if (document) documents.set(id, document)
      }
      return documents
    },

    idsOf: async (view, index, equals, generation) =>
      reader.idsOf(generationOf(view, generation), index, equals),

    async commit(commits, generation) {
      const due = commits
        .map((commit) => ({ ...commit, table: generationOf(commit.view, generation) }))
        .filter(({ table, position }) => position > table.checkpoint)
      for (const { view, changes } of due) {
        for (const { id } of changes) assertId(id)
        requireStorable(view, changes)
      }
      buffer.add(due)
    },

    async beginRebuild(view) {
      const { spec, live } = modelOf(view)
      buffer.write()
      models.set(view, { spec, live, rebuild: opened(catalog.beginRebuild(spec)) })
      clean()
    },

    async swap(view) {
      const { spec } = modelOf(view)
      const rebuild = generationOf(view, 'rebuild')
      buffer.write()
      catalog.swap(view)
      models.set(view, { spec, live: rebuild })
      clean()
    },

    async close() {
      if (closed) return
      buffer.write()
      closed = true
      await cleaning
      await close()
    },
  }
}
