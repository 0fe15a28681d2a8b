import type { Leases } from '../ports/leases.ts'

type Lease = {
  leases: Leases
  name: string
  holder: string
  /** How long it lasts unless it is renewed. */
  ms?: number
}

/**
 * Works while it holds a lease, and renews it meanwhile; does nothing while another process holds
 * it. A renewal that fails does not stop the work: the next one may come in time.
 */
export const withLease = async (
  { leases, name, holder, ms = 30_000 }: Lease,
  work: () => Promise<void>,
): Promise<void> => {
  if (!(await leases.acquire(name, holder, ms))) return
  const renewing = setInterval(
    () => leases.acquire(name, holder, ms).catch(() => undefined),
    ms / 3,
  )
  try {
    await work()
  } finally {
    clearInterval(renewing)
    await leases.release(name, holder)
  }
}
