import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Collection, UpdateFilter } from 'mongodb'
import { START } from '../../ports/event-store.ts'
import { CheckpointMoved, type DocumentChange } from '../../ports/views.ts'
import { isDuplicate, type Mongo } from './connect.ts'
import { partsOf, type StoredChange } from './view-changes.ts'
import type { StoredDocument } from './view-indexes.ts'

/**
 * The journal's entry of one generation of a read model. `position` is the last commit decided on,
 * and the entry holds all that this commit writes; `applied` is the last commit written. A process
 * that finds them different can finish the commit.
 */
export type JournalEntry = {
  _id: string
  position: number
  applied: number
  /** The process that made the commit. */
  by?: string
  changes?: StoredChange[]
  /** The number of further documents with changes, when they do not all fit in this one. */
  parts?: number
  /** The rebuilt generation is to be the live one, but may not have been renamed yet. */
  swapping?: boolean
  /** The version of the read model that its documents began with; absent: 1. */
  version?: number
}

type Part = { _id: string; changes: StoredChange[] }

/** The changes of one generation up to a position. */
export type Due = { name: string; position: number; changes: readonly DocumentChange[] }

/** After so long, a commit that another process began is finished by this one. */
const unfinishedMs = 1_000
const lookMs = 25

const partId = (name: string, position: number, n: number) => `${name}@${position}#${n}`

/**
 * Commits to several collections without transactions. First the entry of each read model is
 * written, with everything that the commit changes: that one write decides the commit. Then its
 * documents are written, each with its position, so that writing one again, or late, is harmless.
 */
export const viewJournal = (
  { db }: Pick<Mongo, 'db'>,
  collectionOf: (name: string) => Collection<StoredDocument>,
) => {
  const entries = db.collection<JournalEntry>('reprise_views')
  const parts = db.collection<Part>('reprise_view_parts')
  const me = randomUUID()
  /** The position from which this process folds; a commit that does not follow it is refused. */
  const folding = new Map<string, number>()

  /**
   * Writes documents in the order of their changes, but for those already there in a later state.
   */
  const apply = async (name: string, position: number, changes: readonly StoredChange[]) => {
    const collection = collectionOf(name)
    let left = changes
    while (left.length > 0)
      try {
        await collection.bulkWrite(
          left.map(({ id, document }) => ({
            replaceOne: {
              filter: { _id: id, _position: { $lte: position } },
              replacement: document
                ? { ...document, _position: position, _live: true }
                : { _position: position, _removed: new Date() },
              upsert: true,
            },
          })),
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
    await entries.bulkWrite(
      done.map(({ name, position }) => ({
        updateOne: {
          filter: { _id: name, position },
          update: { $set: { applied: position }, $unset: { changes: true, parts: true } },
        },
      })),
      { ordered: false },
    )
    if (ids.length > 0) await parts.deleteMany({ _id: { $in: ids } })
  }

  const look = async (name: string) =>
    entries.findOne({ _id: name }, { projection: { position: 1, applied: 1, by: 1 } })

  /** Finishes a commit that another process, or a failed call, left unfinished. */
  const finish = async (name: string): Promise<void> => {
    const entry = await entries.findOne({ _id: name })
    if (!entry || entry.applied === entry.position) return
    const { position, changes = [], parts: more = 0 } = entry
    for (let n = 0; n < more; n++) {
      const part = await parts.findOne({ _id: partId(name, position, n) })
      if (part) changes.push(...part.changes)
    }
    await apply(name, position, changes)
    await applied([{ name, position, parts: more }])
  }

  /** The position of a generation whose documents are all written; undefined when there is none. */
  const settled = async (name: string): Promise<number | undefined> => {
    const first = await look(name)
    if (!first || first.applied === first.position) return first?.position
    for (let waited = 0; waited < unfinishedMs; waited += lookMs) {
      await pause(lookMs)
      const now = await look(name)
      if (!now || now.applied >= first.position) return now?.applied
    }
    await finish(name)
    return settled(name)
  }

  /** From now on, commits of this process must follow the returned position. */
  const position = async (name: string): Promise<number | undefined> => {
    const now = await settled(name)
    if (now !== undefined) folding.set(name, now)
    return now
  }

  /**
   * Whether a commit whose entry was not written is still to be applied. @throws CheckpointMoved
   */
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
        const from = folding.get(commit.name) ?? (await position(commit.name)) ?? START
        if (commit.position > from) due.push({ ...commit, parts: partsOf(commit.changes) })
      }
      if (due.length === 0) return
      const overflow = due.flatMap(({ name, position, parts: [, ...more] }) =>
        more.map((changes, n) => ({ _id: partId(name, position, n), changes })),
      )
      for (const { _id, changes } of overflow)
        await parts.replaceOne({ _id }, { changes }, { upsert: true })

      const { matchedCount } = await entries.bulkWrite(
        due.map(({ name, position, parts: [changes = [], ...more] }) => {
          const from = folding.get(name) ?? START
          const decision: UpdateFilter<JournalEntry> =
            changes.length > 0
              ? { $set: { position, by: me, changes, parts: more.length } }
              : { $set: { position, by: me, applied: position } }
          const filter = { _id: name, position: from, applied: from }
          return { updateOne: { filter, update: decision } }
        }),
        { ordered: false },
      )
      const open =
        matchedCount === due.length ? due.map(() => true) : await Promise.all(due.map(undecided))
      const unapplied = due.filter(({ changes }, n) => open[n] && changes.length > 0)
      await Promise.all(
        unapplied.map(({ name, position, parts }) => apply(name, position, parts.flat())),
      )
      await applied(
        unapplied.map(({ name, position, parts }) => ({ name, position, parts: parts.length - 1 })),
      )
      for (const { name, position } of due) folding.set(name, position)
    },

    /** Adds a generation at the start, unless it exists. */
    async begin(name: string, version = 1) {
      const start = { position: START, applied: START, version }
      try {
        await entries.updateOne({ _id: name }, { $setOnInsert: start }, { upsert: true })
      } catch (error) {
        if (!isDuplicate(error)) throw error
      }
    },

    async forget(name: string) {
      folding.delete(name)
      await entries.deleteOne({ _id: name })
    },

    /** A generation takes over the position of another, whose documents it is about to get. */
    async succeed(name: string, from: string): Promise<void> {
      const position = await settled(from)
      const { version = 1 } = (await entries.findOne({ _id: from })) ?? {}
      if (position === undefined) throw new TypeError(`${name} is not being rebuilt`)
      await entries.updateOne(
        { _id: name },
        {
          $set: { position, applied: position, by: me, swapping: true, version },
          $unset: { changes: true, parts: true },
        },
      )
      folding.set(name, position)
    },

    isSwapping: async (name: string) =>
      (await entries.findOne({ _id: name }, { projection: { swapping: 1 } }))?.swapping === true,

    version: async (name: string) =>
      (await entries.findOne({ _id: name }, { projection: { version: 1 } }))?.version ?? 1,

    async swapped(name: string) {
      await entries.updateOne({ _id: name }, { $unset: { swapping: true } })
    },
  }
}
