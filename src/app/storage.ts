import { appendTimes } from '../event-sourcing/append-times.ts'
import { watchedKeys } from '../security/watched-keys.ts'
import { opening } from '../support/disposal.ts'
import { assertRestored } from './backup/into-empty.ts'
import { warnOfClock } from './clock-check.ts'
import type { Host } from './host.ts'
import { masterKeyOf } from './master-key.ts'
import { openNodeLease } from './node-lease.ts'
import { openMasterKey } from './open-master-key.ts'
import { openStores } from './stores.ts'

/**
 * The stores, the master key that opens their data keys, and the lease of this node.
 * @throws StoreInUse, StoreFormat, StoreDamaged, StoreUnavailable, ConfigInvalid
 */
export const openStorage = ({ config, options, clock, node, log }: Host) =>
  opening(async (opened) => {
    assertRestored(config.DATA_DIR)
    const masterKey = await masterKeyOf(config)
    const { storeWait, positionGap = 0, laterApart = true, onDamaged } = options
    const bare = opened.use(
      await openStores(config, log, {
        ...storeWait,
        positionGap,
        laterApart,
        clock,
        ...(onDamaged && { onDamaged }),
      }),
    )
    const times = appendTimes(clock)
    await times.resume(bare.events)
    warnOfClock(times.aheadMs(), log)
    const { keys, onDestroyed } = watchedKeys(bare.keys)
    const stores = { ...bare, events: times.noting(bare.events), keys }
    const { master, rotation } = opened.use(await openMasterKey({ config, masterKey, stores, log }))
    opened.use(await openNodeLease({ leases: stores.leases, node, log }))
    return { stores, times, master, rotation, onKeyDestroyed: onDestroyed }
  })

export type Storage = Awaited<ReturnType<typeof openStorage>>
