import {
  claimableMs,
  mostIdentical,
  type UndeliveredRun,
  type UndeliveredRuns,
} from '../../ports/undelivered-runs.ts'
import { type Mongo, reaching } from './connect.ts'

/** `node` and `request` are its holder; null: it can be claimed. */
type Entry = Omit<UndeliveredRun, 'runId'> & {
  _id: string
  node: string | null
  request: number | null
}

const nobody = { node: null, request: null }

/** Undelivered runs in MongoDB, shared by all nodes. */
export const mongoUndeliveredRuns = ({ db }: Pick<Mongo, 'db'>): UndeliveredRuns => {
  const runs = db.collection<Entry>('reprise_undelivered_runs')
  let indexed: Promise<unknown> | undefined

  /** @throws StoreUnavailable */
  const ready = async (): Promise<void> => {
    indexed ??= runs.createIndex({ fingerprint: 1, at: 1 }, { name: 'by_fingerprint' })
    try {
      await indexed
    } catch (error) {
      indexed = undefined
      throw error
    }
  }

  return {
    add: ({ runId, ...run }, holder) =>
      reaching(async () => {
        await runs.insertOne({ _id: runId, ...run, ...holder })
      }),

    claim: (fingerprint, holder, now) =>
      reaching(async () => {
        await ready()
        const identical = await runs
          .find({ fingerprint, at: { $gt: now.getTime() - claimableMs } })
          .sort({ at: 1 })
          .limit(mostIdentical)
          .toArray()
        const heldByOthers: { runId: string; node: string }[] = []
        for (const { _id: runId, node, request: _, ...run } of identical) {
          if (node !== null) heldByOthers.push({ runId, node })
          else {
            const result = await runs.updateOne({ _id: runId, ...nobody }, { $set: holder })
            if (result.matchedCount === 1) return { run: { runId, ...run } }
          }
        }
        return { heldByOthers }
      }),

    release: (runId, holder) =>
      reaching(async () => {
        await runs.updateOne({ _id: runId, ...holder }, { $set: nobody })
      }),

    remove: (runId, holder) =>
      reaching(async () => {
        await runs.deleteOne({ _id: runId, ...holder })
      }),

    abandon: (runId, node) =>
      reaching(async () => {
        await runs.deleteOne({ _id: runId, node, early: true })
        await runs.updateOne({ _id: runId, node }, { $set: nobody })
      }),

    sweep: (now) =>
      reaching(async () => {
        const { deletedCount } = await runs.deleteMany({
          at: { $lte: now.getTime() - claimableMs },
        })
        return deletedCount
      }),
  }
}
