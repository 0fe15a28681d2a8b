import t from 'tap'
import { StoreUnavailable } from '../../src/ports/event-store.ts'
import type { Leases } from '../../src/ports/leases.ts'
import { deferred } from '../../src/support/deferred.ts'
import { withLease } from '../../src/workers/with-lease.ts'

t.test(
  'a lease that cannot be renewed for a while ends neither the work nor the process',
  async (t) => {
    const tried = deferred<void>()
    let acquired = 0
    let released = 0
    const leases: Leases = {
      acquire: async () => {
        acquired++
        if (acquired === 1) return true
        if (acquired === 4) tried.resolve()
        throw new StoreUnavailable('not now')
      },
      release: async () => {
        released++
      },
      holder: async () => undefined,
    }
    await withLease({ leases, name: 'work', holder: 'node-1', ms: 6 }, () => tried.promise)
    t.equal(released, 1)
    leases.acquire = async () => false
    await withLease({ leases, name: 'work', holder: 'node-1' }, async () => {
      t.fail('not ours')
    })
  },
)
