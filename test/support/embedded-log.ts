import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { embeddedBlobs } from '../../src/adapters/embedded/blobs.ts'
import { environmentIn } from '../../src/adapters/embedded/environment.ts'
import { noteFormat } from '../../src/adapters/embedded/folder-format.ts'
import { dataKeyKey, streamKey } from '../../src/adapters/embedded/index-key.ts'
import { metadata } from './recorded.ts'

type Event = { type: string; data: unknown }

/**
 * A data folder whose log is written row by row, as its server would; `target` is an empty folder
 * beside it.
 */
export const embeddedLog = (t: Test) => {
  const root = t.testdir({ data: {}, target: {} })
  const dataDir = join(root, 'data')
  const path = join(dataDir, 'log')
  mkdirSync(path)
  noteFormat(path, 2)
  const db = environmentIn(path, false)
  t.teardown(() => db.root.close())
  const revisions = new Map<string, number>()
  let head = -1

  return {
    dataDir,
    target: join(root, 'target'),
    /** Its data file. */
    file: join(path, 'data.mdb'),
    db,
    /** Appends events; answers the position of the last one. */
    append(stream: string, events: readonly Event[], more = metadata): number {
      const first = (revisions.get(stream) ?? -1) + 1
      const revision = first + events.length - 1
      const entries = events.map(({ type, data }) => [randomUUID(), type, data])
      revisions.set(stream, revision)
      head += events.length
      db.root.transactionSync(() => {
        db.records.putSync(head, JSON.stringify([stream, first, more, entries]))
        db.streams.putSync(streamKey(stream, revision), head)
      })
      return head
    },
    /** Writes all that a work does in one transaction, which saves time. */
    together: (work: () => void) => db.root.transactionSync(work),
    /** Stores a wrapped data key; null: it is destroyed. */
    key: (name: string, wrapped: string | null) =>
      db.keys.putSync(dataKeyKey(name), Buffer.from(wrapped ?? '')),
    installation: (value: string) => db.installation.putSync('keys', Buffer.from(value)),
    answer: (scope: string, entry: string) => db.answers.putSync(scope, entry),
    undelivered: (run: string, entry: string) => db.undelivered.putSync(run, entry),
    async blob(name: string, bytes: Uint8Array): Promise<void> {
      const blobs = await embeddedBlobs(join(dataDir, 'blobs'))
      await blobs.put(Readable.from([bytes]), undefined, () => name)
    },
  }
}

type Databases = ReturnType<typeof environmentIn>

/** Every row of a log, in the order of its keys. */
export const rowsOf = (db: Databases) => {
  const { records, streams, keys, installation, answers, undelivered } = db
  const all = { records, streams, keys, installation, answers, undelivered }
  return Object.fromEntries(
    Object.entries(all).map(([name, table]) => [
      name,
      Array.from(
        table.getRange({}) as Iterable<{ key: unknown; value: unknown }>,
        ({ key, value }) => [key, Buffer.isBuffer(value) ? value.toString() : value],
      ),
    ]),
  )
}

/** The rows of the log in a data folder that no server has open. */
export const rowsIn = async (dataDir: string) => {
  const db = environmentIn(join(dataDir, 'log'), true)
  try {
    return rowsOf(db)
  } finally {
    await db.root.close()
  }
}

/** The name of a blob. */
export const blobName = (n: number): string => n.toString(16).padStart(64, '0')

const sealed = ($sealed: string) => ({ $sealed, box: 'aaaa' })

/** Events that name files, and those that say that they are erased. */
export const fileEvents = {
  message: (key: string, ...blobs: readonly string[]): Event => ({
    type: 'UserMessageSent',
    data: {
      messageId: 'm',
      runId: 'r',
      content: sealed(key),
      parts: blobs.map((blob) => ({ blob })),
    },
  }),
  requested: (key: string): Event => ({ type: 'ContentRequested', data: { prompt: sealed(key) } }),
  completed: (hash: string): Event => ({ type: 'ContentCompleted', data: { hash } }),
  contentErased: { type: 'ContentErased', data: { sessionId: 's' } },
  sessionErased: { type: 'SessionErased', data: { sessionOwner: 'u', delegated: false } },
  upload: (type: string, uploadId: string, more: object = {}): Event => ({
    type,
    data: { uploadId, datastoreId: 'ds', ...more },
  }),
}
