import { StoreUnavailable } from '../../ports/event-store.ts'
import type { Snapshots } from '../../ports/snapshots.ts'
import { type Mongo, reaching } from './connect.ts'

type StoredSnapshot = { _id: string; revision: number; version: number; state: string }

/** Even in UTF-8 less than the 16 MiB that MongoDB takes in one document. */
const maxCharacters = 4 * 1024 * 1024

/** Snapshots in MongoDB. They only save time: while it is out of reach there are none. */
export const mongoSnapshots = ({ db }: Pick<Mongo, 'db'>): Snapshots => {
  const snapshots = db.collection<StoredSnapshot>('reprise_snapshots')
  const ifReached = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await reaching(work)
    } catch (error) {
      if (error instanceof StoreUnavailable) return undefined
      throw error
    }
  }

  return {
    get: (stream) =>
      ifReached(async () => {
        const stored = await snapshots.findOne({ _id: stream })
        if (!stored) return undefined
        const { revision, version, state } = stored
        return { revision, version, state: JSON.parse(state) }
      }),

    put: (stream, { revision, version, state }) =>
      ifReached(async () => {
        const text = JSON.stringify(state)
        if (text.length > maxCharacters) return
        const snapshot = { revision, version, state: text }
        await snapshots.replaceOne({ _id: stream }, snapshot, { upsert: true })
      }),
  }
}
