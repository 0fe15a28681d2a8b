import type { Leases } from '../../ports/leases.ts'
import { processClock, unrenewedLeases } from '../../support/lease-time.ts'
import { isDuplicate, type Mongo, reaching } from './connect.ts'

/** `ttlMs` is absent in leases of earlier releases. */
type StoredLease = { _id: string; holder: string; until: Date; ttlMs?: number }

/**
 * Leases among the processes that share a database. The time is the server's, read before every
 * step: the clocks of the nodes do not matter, and a slow message only makes a lease end earlier.
 * Where the server's clock is set back, a lease also ends once nobody has renewed it for its time.
 */
export const mongoLeases = ({ db }: Pick<Mongo, 'db'>, clock = processClock): Leases => {
  const leases = db.collection<StoredLease>('reprise_leases')
  const isUnrenewed = unrenewedLeases(clock)
  const serverTime = async (): Promise<number> => {
    const { localTime } = await db.command({ hello: 1 })
    return localTime.getTime()
  }

  const hasRunOut = ({ _id, holder, until, ttlMs }: StoredLease, usualMs: number): boolean =>
    isUnrenewed(_id, { holder, until: until.getTime(), ttlMs: ttlMs ?? usualMs })

  return {
    acquire: (name, holder, ttlMs) =>
      reaching(async () => {
        const now = await serverTime()
        const free = { _id: name, $or: [{ holder }, { until: { $lte: new Date(now) } }] }
        const lease = { holder, until: new Date(now + ttlMs), ttlMs }
        try {
          await leases.updateOne(free, { $set: lease }, { upsert: true })
          return true
        } catch (error) {
          if (!isDuplicate(error)) throw error
        }
        const held = await leases.findOne({ _id: name })
        if (!held || !hasRunOut(held, ttlMs)) return false
        const same = { _id: name, holder: held.holder, until: held.until }
        return (await leases.updateOne(same, { $set: lease })).matchedCount === 1
      }),

    release: (name, holder) =>
      reaching(async () => {
        await leases.deleteOne({ _id: name, holder })
      }),

    holder: (name) =>
      reaching(async () => {
        const until = { $gt: new Date(await serverTime()) }
        const held = await leases.findOne({ _id: name, until })
        return held && !hasRunOut(held, Number.POSITIVE_INFINITY) ? held.holder : undefined
      }),
  }
}
