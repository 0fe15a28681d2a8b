import t from 'tap'
import { embeddedLeases } from '../../../src/adapters/embedded/leases.ts'
import { leasesContract } from '../../contracts/leases.ts'

t.test('embedded leases', async (t) => {
  leasesContract(t, async () => {
    const leases = embeddedLeases()
    return async () => leases
  })
})
