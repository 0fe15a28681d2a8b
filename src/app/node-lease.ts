import type { Leases } from '../ports/leases.ts'
import type { Log } from '../ports/log.ts'
import { opening } from '../support/disposal.ts'
import { nodeLease } from '../workers/node-lease.ts'

type Uses = {
  leases: Leases
  /** This process's life. */
  node: string
  log: Log
}

/** How long the lease lasts, and how often it is renewed. */
const ttlMs = 10_000
const renewMs = 3_000

/** Shows other nodes that this one lives: they end the runs of one that does not. */
export const openNodeLease = ({ leases, node, log }: Uses) =>
  opening(async (opened) => {
    const name = nodeLease(node)
    const renew = () =>
      leases.acquire(name, node, ttlMs).catch((err) => {
        log.warn({ err }, 'the lease of this node could not be renewed')
      })
    opened.add(() => leases.release(name, node))
    await renew()
    const renewing = setInterval(renew, renewMs).unref()
    opened.add(() => clearInterval(renewing))
    return {}
  })
