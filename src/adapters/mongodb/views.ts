import type { Db, FindCursor } from 'mongodb'
import type { Position } from '../../domain/event.ts'
import type {
  Document,
  Find,
  FindResult,
  Generation,
  View,
  ViewSpec,
  Views,
} from '../../ports/views.ts'
import { type SerialQueue, serialQueue } from '../../support/serial-queue.ts'
import { declaredIndex } from '../declared-index.ts'
import { requireStorable, sizeOf } from '../storable.ts'
import { type Mongo, reaching } from './connect.ts'
import { fromStored } from './documents.ts'
import { ensureIndexes, filterOf, type StoredDocument, sortOf } from './view-indexes.ts'
import { viewJournal } from './view-journal.ts'

const pageSize = 500
/** How long the mark of a removed document is kept. */
const removedMs = 60 * 60 * 1000

const nameOf = (view: string, generation: Generation = 'live') =>
  generation === 'live' ? view : `${view}~rebuild`

/** The collection does not exist: another process has renamed it. */
const isMissing = (error: unknown) => (error as { code?: unknown }).code === 26

const exists = async (db: Db, name: string): Promise<boolean> =>
  (await db.listCollections({ name }, { nameOnly: true }).toArray()).length > 0

/** A server's answer has at most 16 MB, so what is read beyond the bytes is one such answer. */
const readUpTo = async (
  cursor: FindCursor<StoredDocument>,
  bytes: number | undefined,
): Promise<Omit<FindResult<Document>, 'total'>> => {
  if (bytes === undefined) return { items: (await cursor.toArray()).map(fromStored) }
  const items: Document[] = []
  let room = bytes
  // Leaving the loop closes the cursor.
  for await (const stored of cursor) {
    if (room <= 0) return { items, cut: true }
    const document = fromStored(stored)
    items.push(document)
    room -= sizeOf(document)
  }
  return { items }
}

/**
 * Read models in MongoDB, each in a collection of its own name, with the fields of the answers.
 * Needs no transactions. Any number of processes may read; one at a time should write, and if two
 * do, the later one is refused: the commits of a writer must follow the position that `checkpoint`
 * gave it last.
 * @throws StoreUnavailable, CheckpointMoved
 */
export const mongoViews = (mongo: Pick<Mongo, 'db'>): Views => {
  const { db } = mongo
  const specs = new Map<string, ViewSpec>()
  const swaps = new Map<string, SerialQueue>()
  const collectionOf = (name: string) => db.collection<StoredDocument>(name)
  const journal = viewJournal(mongo, collectionOf)

  const specOf = (view: string): ViewSpec => {
    const spec = specs.get(view)
    if (!spec) throw new TypeError(`no read model is called ${view}`)
    return spec
  }

  const renamed = async (view: string): Promise<void> => {
    if (!(await journal.isSwapping(view))) return
    const rebuild = nameOf(view, 'rebuild')
    if (await exists(db, rebuild))
      try {
        await collectionOf(rebuild).rename(view, { dropTarget: true })
      } catch (error) {
        if (isMissing(error)) return
        throw error
      }
    await journal.forget(rebuild)
    await journal.swapped(view)
  }

  /**
   * Renames the rebuilt generation, also when the process that swapped it in ended before. Runs one
   * at a time: a second one could rename the collection of the next rebuild.
   */
  const finishSwap = async (view: string): Promise<void> => {
    if (!(await journal.isSwapping(view))) return
    const serially = swaps.get(view) ?? serialQueue()
    swaps.set(view, serially)
    await serially(() => renamed(view))
  }

  const find = async (spec: ViewSpec, query: Find): Promise<FindResult<Document>> => {
    const { index: name, equals, descending, skip = 0, limit } = query
    const index = declaredIndex(spec.indexes, name, equals)
    const filter = filterOf(index, query)
    const page = () =>
      collectionOf(spec.name)
        .find(filter)
        .sort(sortOf(index, descending))
        .skip(skip)
        .limit(limit)
        .batchSize(limit + 1)
    const [read, total] = await Promise.all([
      limit > 0 ? readUpTo(page(), query.bytes) : { items: [] },
      query.total ?? collectionOf(spec.name).countDocuments(filter),
    ])
    return { ...read, total }
  }

  async function* all(name: string): AsyncGenerator<{ id: string; document: Document }[]> {
    for (let last: string | undefined; ; ) {
      const after = last === undefined ? {} : { _id: { $gt: last } }
      const page = await reaching(() =>
        collectionOf(name)
          .find({ ...after, _live: true })
          .sort({ _id: 1 })
          .limit(pageSize)
          .toArray(),
      )
      if (page.length === 0) return
      yield page.map((stored) => ({ id: stored._id, document: fromStored(stored) }))
      last = page.at(-1)?._id
    }
  }

  const get = async (name: string, id: string) => {
    const stored = await collectionOf(name).findOne({ _id: id, _live: true })
    return stored ? fromStored(stored) : undefined
  }

  const checkpoint: Views['checkpoint'] = async (view, generation = 'live') => {
    specOf(view)
    await finishSwap(view)
    const position = await journal.position(nameOf(view, generation))
    if (position === undefined) throw new TypeError(`${view} is not being rebuilt`)
    return position as Position
  }

  return {
    view: <Doc>(spec: ViewSpec) =>
      reaching(async () => {
        specs.set(spec.name, spec)
        await journal.begin(spec.name, spec.version)
        await finishSwap(spec.name)
        const collection = collectionOf(spec.name)
        await ensureIndexes(collection, spec)
        await collection.deleteMany({ _removed: { $lt: new Date(Date.now() - removedMs) } })
        const view: View<Document> = {
          get: (id) => reaching(() => get(spec.name, id)),
          find: (query) => reaching(() => find(specOf(spec.name), query)),
          all: () => all(spec.name),
        }
        return view as View<Doc>
      }),

    checkpoint: (view, generation) => reaching(() => checkpoint(view, generation)),

    load: (view, ids, generation) =>
      reaching(async () => {
        specOf(view)
        const cursor = collectionOf(nameOf(view, generation)).find({
          _id: { $in: [...ids] },
          _live: true,
        })
        return new Map((await cursor.toArray()).map((stored) => [stored._id, fromStored(stored)]))
      }),

    idsOf: (view, name, equals, generation) =>
      reaching(async () => {
        const index = declaredIndex(specOf(view).indexes, name, equals)
        const cursor = collectionOf(nameOf(view, generation))
          .find(filterOf(index, { equals }))
          .project<{ _id: string }>({ _id: 1 })
        return (await cursor.toArray()).map(({ _id }) => _id)
      }),

    commit: (commits, generation) =>
      reaching(() =>
        journal.commit(
          commits.map(({ view, changes, position }) => {
            specOf(view)
            requireStorable(view, changes)
            return { name: nameOf(view, generation), changes, position }
          }),
        ),
      ),

    version: (view) =>
      reaching(async () => {
        specOf(view)
        await finishSwap(view)
        return journal.version(view)
      }),

    beginRebuild: (view) =>
      reaching(async () => {
        const spec = specOf(view)
        const name = nameOf(view, 'rebuild')
        await finishSwap(view)
        await journal.forget(name)
        if (await exists(db, name)) await collectionOf(name).drop()
        await ensureIndexes(collectionOf(name), spec)
        await journal.begin(name, spec.version)
      }),

    swap: (view) =>
      reaching(async () => {
        specOf(view)
        await journal.succeed(view, nameOf(view, 'rebuild'))
        await finishSwap(view)
      }),

    close: async () => undefined,
  }
}
