import { setImmediate } from 'node:timers/promises'
import type { Position } from '../../domain/event.ts'
import type { Damage } from '../../ports/damage.ts'
import { START, StoreDamaged, StoreUnavailable } from '../../ports/event-store.ts'
import type { Commit, Document, Generation, View, ViewSpec, Views } from '../../ports/views.ts'
import { requireStorable } from '../storable.ts'
import { explained } from './lmdb-errors.ts'
import { viewsBuffer } from './views-buffer.ts'
import { viewsCatalog } from './views-catalog.ts'
import { viewsDatabase } from './views-database.ts'
import type { ViewsEnv } from './views-env.ts'
import { assertId } from './views-keys.ts'
import { viewsReader } from './views-reader.ts'
import { type Table, tableOf } from './views-writing.ts'

type Model = {
  spec: ViewSpec
  live: Table
  rebuild?: Table
  /** Where it stood when the file was dropped: until it is there again it is not shown. */
  dueAt: Position
}

const openedOn = (env: ViewsEnv, onDamage: (cause: StoreDamaged) => void) => {
  const db = viewsDatabase(env)
  const buffer = viewsBuffer({ db, onDamage, room: env.rooms.views })
  return { catalog: viewsCatalog(db), buffer, reader: viewsReader(db, buffer) }
}

export type EmbeddedViews = Views & {
  /** The read models that are folded again because their file was damaged. */
  damage(): readonly Damage[]
  /** Calls back when damage is met: the file is dropped, and folded from the start. */
  onRenewed(listener: (cause: StoreDamaged) => void): void
}

/**
 * Read models in lmdb. Readers see a commit at once. Documents, index entries, totals and
 * checkpoint of a read model are written within about a second, in one transaction; a killed
 * process loses the last commits of each read model whole, and they are folded again. Totals are
 * stored, and counted only for a range. Never change a document that was read: it is not a copy.
 *
 * Where anything is damaged the file is dropped and an empty one begun. Until a read model is where
 * it was, reading it throws StoreUnavailable. `dropped` read models, of an earlier release, are
 * removed.
 * @throws StoreUnavailable when the disk refuses a write
 */
export const embeddedViews = (
  env: ViewsEnv,
  { dropped = [] }: { dropped?: readonly string[] } = {},
): EmbeddedViews => {
  let on = openedOn(env, (cause) => startRenewal(cause))
  const models = new Map<string, Model>()
  const listeners: ((cause: StoreDamaged) => void)[] = []
  let closed = false
  let renewing: Promise<void> | undefined
  let cleaning = Promise.resolve()

  const opened = (stored: Parameters<typeof tableOf>[0], rebuilt = false) =>
    tableOf(stored, on.catalog.checkpoint(stored), rebuilt)

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
    const { catalog } = on
    cleaning = cleaning
      .then(() => catalog.clean(() => closed || renewing !== undefined || on.catalog !== catalog))
      .catch(() => undefined)
  }

  const renew = async () => {
    on.buffer.discard()
    await cleaning
    if (closed) return
    await env.renew()
    on = openedOn(env, startRenewal)
    for (const [name, { spec, live, dueAt }] of models)
      models.set(name, {
        spec,
        live: opened(on.catalog.declare(spec).live),
        dueAt: live.checkpoint > dueAt ? live.checkpoint : dueAt,
      })
  }

  /** Not in the middle of the read that has met the damage. */
  const startRenewal = (cause: StoreDamaged) => {
    if (renewing || closed) return
    renewing = setImmediate()
      .then(renew)
      .finally(() => {
        renewing = undefined
      })
    renewing.catch(() => undefined)
    for (const notify of listeners) notify(cause)
  }
  env.onDamage(startRenewal)

  const unavailable = (cause?: unknown) =>
    new StoreUnavailable('the views are damaged and are folded again', { cause })

  /** @throws StoreUnavailable where it is damage */
  const fail = (error: unknown): never => {
    const cause = explained(error, 'the views')
    if (!(cause instanceof StoreDamaged)) throw cause
    startRenewal(cause)
    throw unavailable(cause)
  }

  /** @throws StoreUnavailable where anything is damaged, and until the file is renewed */
  const attempt = async <T>(work: () => T | Promise<T>): Promise<T> => {
    if (renewing) throw unavailable()
    try {
      return work()
    } catch (error) {
      return fail(error)
    }
  }

  const isBehind = ({ live, dueAt }: Model) => live.checkpoint < dueAt

  /** A read model as it is shown. */
  const liveTable = (view: string): Table => {
    const model = modelOf(view)
    if (isBehind(model)) throw unavailable()
    return model.live
  }

  /** Reads by the indexes of a read model, once they have what was committed. */
  const indexed = <T>(tableOf: () => Table, read: (table: Table) => T): Promise<T> =>
    attempt(() => {
      const table = tableOf()
      return on.buffer.ensureWritten(table)?.then(() => indexed(tableOf, read), fail) ?? read(table)
    })

  /** Does what needs everything to be written: most of it is before, in slices. */
  const afterWrite = async (work: () => void): Promise<void> => {
    await attempt(() => on.buffer.writtenInSlices().catch(fail))
    await attempt(work)
  }

  async function* all(view: string) {
    const batches = await indexed(
      () => liveTable(view),
      (table) => on.reader.all(table),
    )
    for (;;) {
      const { done, value } = await batches.next().catch(fail)
      if (done) return
      yield value
    }
  }

  on.catalog.drop(dropped)
  clean()

  return {
    async view<Doc>(spec: ViewSpec) {
      const declare = () =>
        attempt(() => {
          on.buffer.write()
          const { live, rebuild } = on.catalog.declare(spec)
          models.set(spec.name, {
            spec,
            dueAt: START,
            live: opened(live),
            ...(rebuild && { rebuild: opened(rebuild, true) }),
          })
        })
      await declare().catch(async (error) => {
        if (!renewing) throw error
        await renewing
        await declare()
      })
      clean()
      const view: View<Document> = {
        get: (id) => attempt(() => on.buffer.current(liveTable(spec.name), id)),
        find: (query) =>
          indexed(
            () => liveTable(spec.name),
            (table) => on.reader.find(table, query),
          ),
        all: () => all(spec.name),
      }
      return view as View<Doc>
    },

    checkpoint: (view, generation) =>
      attempt(() => {
        on.buffer.requireWritten()
        return generationOf(view, generation).checkpoint
      }),

    load: (view, ids, generation) =>
      attempt(() => {
        const table = generationOf(view, generation)
        const documents = new Map<string, Document>()
        for (const id of ids) {
          const document = on.buffer.current(table, id)
          if (document) documents.set(id, document)
        }
        return documents
      }),

    idsOf: (view, index, equals, generation) =>
      indexed(
        () => generationOf(view, generation),
        (table) => on.reader.idsOf(table, index, equals),
      ),

    commit: (commits, generation, more) =>
      attempt(() => {
        const accepted: { table: Table; commit: Commit; bytes: number }[] = []
        for (const commit of commits) {
          const { view, changes, position } = commit
          const table = generationOf(view, generation)
          if (position <= table.checkpoint) continue
          for (const { id } of changes) assertId(id)
          accepted.push({ table, commit, bytes: requireStorable(view, changes) })
        }
        on.buffer.requireWritten()
        if (generation === 'rebuild')
          env.rooms.rebuilds(accepted.reduce((sum, { bytes }) => sum + bytes, 0))
        for (const { table, commit, bytes } of accepted) on.buffer.take(table, commit, bytes)
        on.buffer.taken({ more: more === true })
      }),

    version: (view) => attempt(() => on.catalog.versionOf(view)),

    beginRebuild: (view) =>
      afterWrite(() => {
        const { rebuild: _, ...model } = modelOf(view)
        on.buffer.write()
        models.set(view, { ...model, rebuild: opened(on.catalog.beginRebuild(model.spec), true) })
        clean()
      }),

    swap: (view) =>
      afterWrite(() => {
        const { spec, dueAt } = modelOf(view)
        const rebuild = generationOf(view, 'rebuild')
        on.buffer.write()
        on.catalog.swap(view)
        rebuild.rebuilt = false
        models.set(view, { spec, dueAt, live: rebuild })
        clean()
      }),

    damage: () =>
      [...models].flatMap(([what, model]): Damage[] =>
        renewing || isBehind(model) ? [{ store: 'read_models', what }] : [],
      ),

    onRenewed: (listener) => {
      listeners.push(listener)
    },

    async close() {
      if (closed) return
      await renewing?.catch(() => undefined)
      try {
        on.buffer.write()
      } catch (error) {
        // Unwritten changes are folded again from the log.
        if (error instanceof StoreDamaged) startRenewal(error)
        else if (error instanceof StoreUnavailable) on.buffer.discard()
        else throw error
      }
      await renewing
      closed = true
      await cleaning
      await env.close()
    },
  }
}
