import type { Test } from 'tap'
import type { Snapshots } from '../../src/ports/snapshots.ts'

/** What every snapshot store owes its callers. The store is empty. */
export const snapshotsContract = (t: Test, open: (t: Test) => Promise<Snapshots>): void => {
  t.test('the latest snapshot of a stream is answered as it was', async (t) => {
    const snapshots = await open(t)
    t.equal(await snapshots.get('session-org-1_a'), undefined)
    const state = { 'a.b': [1, null, { $sealed: 'k' }], text: 'ž\0', open: true }
    await snapshots.put('session-org-1_a', { revision: 600, version: 1, state: {} })
    await snapshots.put('session-org-1_a', { revision: 1200, version: 2, state })
    await snapshots.put('session-org-1_b', { revision: 1, version: 1, state: null })
    t.strictSame(await snapshots.get('session-org-1_a'), { revision: 1200, version: 2, state })
    t.strictSame(await snapshots.get('session-org-1_b'), { revision: 1, version: 1, state: null })
  })

  t.test('a state larger than databases like does no harm', async (t) => {
    const snapshots = await open(t)
    const state = { text: 'x'.repeat(20_000_000) }
    await t.resolves(snapshots.put('session-org-1_a', { revision: 1, version: 1, state }))
    const stored = await snapshots.get('session-org-1_a')
    if (stored) t.strictSame(stored.state, state)
  })
}
