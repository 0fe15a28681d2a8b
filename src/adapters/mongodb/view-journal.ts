import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection, UpdateFilter } from 'mongodb'
import { START } from '../../ports/event-store.ts'
import { CheckpointMoved, type DocumentChange } from '../../ports/views.ts'
import { bulkWrite, isDuplicate, type Mongo } from './connect.ts'
import { partsOf, type StoredChange } from './view-changes.ts'
import type { StoredDocument } from './view-indexes.ts'

/**
 * Where a generation of a read model stands. `position` is decided: with it goes everything that
 * is to be written, so that whoever finds it not `applied` can finish it.
 */
export type JournalStanding = {
  _id: string
  position: number
  applied: number
  /** Whose commit it was. */
  by?: string
  changes?: StoredChange[]
  /** How many more documents of changes there are, where one would be too large. */
  parts?: number
  /** The rebuilt generation is decided to be the live one, but may not have its name yet. */
  swapping?: boolean
}

type Part = { _id: string; changes: StoredChange[] }

/** A generation's changes up to a position. */
export type Due = { name: string; position: number; changes: readonly DocumentChange[] }

/** Another process that has not finished a commit by then is taken not to. */
const patienceMs = 1_000
const lookMs = 25

const partId = (name: string, position: number, n: number) => `${name}@${position}#${n}`

/**
 * Commits to several collections without transactions: the decision, with all it holds, is one
 * write of one document; the documents follow and carry their position, so that writing them
 * again, or too late, does no harm.
 */
export const viewJournal = (
  { db, bulk }: Pick<Mongo, 'db' | 'bulk'>,
  collectionOf: (name: string) => Collection<StoredDocument>,
) => {
  const standings = db.collection<JournalStanding>('reprise_views')
  const parts = db.collection<Part>('reprise_view_parts')
  const me = randomUUID()
  /** The position from which this process folds; a commit that does not follow it is refused. */
  const stand = new Map<string, number>()

  /** Writes documents, save those that are there in a later state. */
  const apply = async (name: string, position: number, changes: readonly StoredChange[]) => {
    const collection = collectionOf(name)
    let left = changes
    while (left.length > 0)
      try {
        await bulkWrite(
          collection,
          left.map(({ id, document }) => ({
            replaceOne: {
              filter: { _id: id, _position: { $lte: position } },
              replacement: document
                ? { ...document, _position: position, _live: true }
                : { _position: position, _removed: new Date() },
              upsert: true,
            },
          })),
          { bulk },
        )
        return
      } catch (error) {
        if (!isDuplicate(error)) throw error
        const ids = left.map(({ id }) => id)
        const later = collection.find(
          { _id: { $in: ids }, _position: { $gt: position } },
          { projection: { _id: 1 } },
        )
        const skipped = new Set((await later.toArray()).map(({ _id }) => _id))
        left = left.filter(({ id }) => !skipped.has(id))
      }
  }

  const applied = async (done: readonly { name: string; position: number; parts: number }[]) => {
    if (done.length === 0) return
    const ids = done.flatMap(({ name, position, parts }) =>
      Array.from({ length: parts }, (_, n) => partId(name, position, n)),
    )
    await bulkWrite(
      standings,
      done.map(({ name, position }) => ({
        updateOne: {
          filter: { _id: name, position },
          update: { $set: { applied: position }, $unset: { changes: true, parts: true } },
        },
      })),
      { bulk },
    )
    if (ids.length > 0) await parts.deleteMany({ _id: { $in: ids } })
  }

  const look = async (name: string) =>
    standings.findOne({ _id: name }, { projection: { position: 1, applied: 1, by: 1 } })

  /** Finishes what another process, or a failed commit, has left. */
  const finish = async (name: string): Promise<void> => {
    const standing = await standings.findOne({ _id: name })
    if (!standing || standing.applied === standing.position) return
    const { position, changes = [], parts: more = 0 } = standing
    for (let n = 0; n < more; n++) {
      const part = await parts.findOne({ _id: partId(name, position, n) })
      if (part) changes.push(...part.changes)
    }
    await apply(name, position, changes)
    await applied([{ name, position, parts: more }])
  }

  /** Where a generation stands with all its documents written; undefined when it is not there. */
  const settled = async (name: string): Promise<number | undefined> => {
    const first = await look(name)
    if (!first || first.applied === first.position) return first?.position
    for (let waited = 0; waited < patienceMs; waited += lookMs) {
      await pause(lookMs)
      const now = await look(name)
      if (!now || now.applied >= first.position) return now?.applied
    }
    await finish(name)
    return settled(name)
  }

  /** Takes its stand: commits of this process must follow the answered position. */
  const position = async (name: string): Promise<number | undefined> => {
    const now = await settled(name)
    if (now !== undefined) stand.set(name, now)
    return now
  }

  /** Whether a commit whose decision was not taken is still to be applied. @throws CheckpointMoved */
  const undecided = async ({ name, position }: Due): Promise<boolean> => {
    const now = await look(name)
    if (now && now.position === position && now.by === me) return now.applied !== position
    if (now && now.position >= position) return false
    throw new CheckpointMoved(name)
  }

  return {
    position,

    async commit(commits: readonly Due[]): Promise<void> {
      const due: (Due & { parts: StoredChange[][] })[] = []
      for (const commit of commits) {
        const from = stand.get(commit.name) ?? (await position(commit.name)) ?? START
        if (commit.position > from) due.push({ ...commit, parts: partsOf(commit.changes) })
      }
      if (due.length === 0) return
      const overflow = due.flatMap(({ name, position, parts: [, ...more] }) =>
        more.map((changes, n) => ({ _id: partId(name, position, n), changes })),
      )
      for (const { _id, changes } of overflow)
        await parts.replaceOne({ _id }, { changes }, { upsert: true })

      const matched = await bulkWrite(
        standings,
        due.map(({ name, position, parts: [changes = [], ...more] }) => {
          const from = stand.get(name) ?? START
          const decision: UpdateFilter<JournalStanding> =
            changes.length > 0
              ? { $set: { position, by: me, changes, parts: more.length } }
              : { $set: { position, by: me, applied: position } }
          const filter = { _id: name, position: from, applied: from }
          return { updateOne: { filter, update: decision } }
        }),
        { bulk },
      )
      const open =
        matched === due.length ? due.map(() => true) : await Promise.all(due.map(undecided))
      const todo = due.filter(({ changes }, n) => open[n] && changes.length > 0)
      await Promise.all(
        todo.map(({ name, position, parts }) => apply(name, position, parts.flat())),
      )
      await applied(
        todo.map(({ name, position, parts }) => ({ name, position, parts: parts.length - 1 })),
      )
      for (const { name, position } of due) stand.set(name, position)
    },

    /** Puts a generation at the start, unless it is there. */
    async begin(name: string) {
      const start = { position: START, applied: START }
      try {
        await standings.updateOne({ _id: name }, { $setOnInsert: start }, { upsert: true })
      } catch (error) {
        if (!isDuplicate(error)) throw error
      }
    },

    async forget(name: string) {
      stand.delete(name)
      await standings.deleteOne({ _id: name })
    },

    /** One generation's standing becomes that of another, whose documents are about to be. */
    async succeed(name: string, from: string): Promise<void> {
      const position = await settled(from)
      if (position === undefined) throw new TypeError(`${name} is not being rebuilt`)
      await standings.updateOne(
        { _id: name },
        {
          $set: { position, applied: position, by: me, swapping: true },
          $unset: { changes: true, parts: true },
        },
      )
      stand.set(name, position)
    },

    isSwapping: async (name: string) =>
      (await standings.findOne({ _id: name }, { projection: { swapping: 1 } }))?.swapping === true,

    async swapped(name: string) {
      await standings.updateOne({ _id: name }, { $unset: { swapping: true } })
    },
  }
}
