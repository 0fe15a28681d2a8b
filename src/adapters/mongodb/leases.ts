import type { Leases } from '../../ports/leases.ts'
import { isDuplicate, type Mongo, reaching } from './connect.ts'

type StoredLease = { _id: string; holder: string; until: Date }

/**
 * Leases among the processes that share a database. The time is the server's, read before every
 * step: the clocks of the nodes do not matter, and a slow message only makes a lease end earlier.
 * After a fail-over the clock of the new server counts.
 */
export const mongoLeases = ({ db }: Pick<Mongo, 'db'>): Leases => {
  const leases = db.collection<StoredLease>('reprise_leases')
  const serverTime = async (): Promise<number> => {
    const { localTime } = await db.command({ hello: 1 })
    return localTime.getTime()
  }

  return {
    acquire: (name, holder, ttlMs) =>
      reaching(async () => {
        const now = await serverTime()
        const free = { _id: name, $or: [{ holder }, { until: { $lte: new Date(now) } }] }
        const lease = { holder, until: new Date(now + ttlMs) }
        try {
          await leases.updateOne(free, { $set: lease }, { upsert: true })
          return true
        } catch (error) {
          if (isDuplicate(error)) return false
          throw error
        }
      }),

    release: (name, holder) =>
      reaching(async () => {
        await leases.deleteOne({ _id: name, holder })
      }),

    holder: (name) =>
      reaching(async () => {
        const until = { $gt: new Date(await serverTime()) }
        return (await leases.findOne({ _id: name, until }))?.holder
      }),
  }
}
