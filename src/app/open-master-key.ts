import type { Config } from '../config.ts'
import { START } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import { masterKeyRotation, sharedSettleMs } from '../security/master-key-rotation.ts'
import { openMasterKeys } from '../security/master-keys.ts'
import { replaceMasterKey } from './master-key.ts'
import type { Stores } from './stores.ts'

type Uses = {
  config: Pick<Config, 'MASTER_KEY' | 'DATA_DIR'>
  masterKey: Uint8Array
  stores: Pick<Stores, 'events' | 'keys' | 'sharedViews'>
  log: Log
}

/** The master key that the stores are opened with, and its rotation. @throws WrongMasterKey */
export const openMasterKey = async ({ config, masterKey, stores, log }: Uses) => {
  const { events, keys, sharedViews: shared } = stores
  const isNew = (await events.head()) === START
  const master = await openMasterKeys({ keys, given: masterKey, isNew, shared })
  const isOurs = config.MASTER_KEY === undefined && !shared
  const rotation = masterKeyRotation({
    master,
    keys,
    configured: masterKey,
    configure: isOurs ? (next) => replaceMasterKey(config.DATA_DIR, next) : undefined,
    settleMs: shared ? sharedSettleMs : 0,
    log,
  })
  return { master, rotation, close: rotation.close }
}
