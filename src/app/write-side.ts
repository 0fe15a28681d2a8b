import type { Rules } from '../domain/agent/agent.ts'
import type { AppendTimes } from '../event-sourcing/append-times.ts'
import { tracedTransactor } from '../event-sourcing/traced-transactor.ts'
import { transactor as transactorOf } from '../event-sourcing/transactor.ts'
import { watchedAppends } from '../event-sourcing/watched-appends.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { MasterKeys } from '../security/master-keys.ts'
import { sealedBlobs } from '../security/sealed-blobs.ts'
import { secretsOf } from '../security/secrets.ts'
import { vault as vaultOf } from '../security/vault.ts'
import { wrappedKeys } from '../security/wrapped-keys.ts'
import { commandsOf } from './commands.ts'
import type { Stores } from './stores.ts'

type Uses = {
  stores: Pick<Stores, 'events' | 'blobs' | 'keys' | 'snapshots' | 'sharedEvents'>
  master: Pick<MasterKeys, 'secret' | 'rings'>
  clock: Clock
  times: AppendTimes
  modelFault: Rules['modelFault']
  telemetry: Telemetry | undefined
  log: Pick<Log, 'error'>
}

/** What decides and appends events: every command, and what seals texts and blobs. */
export const writeSide = (uses: Uses) => {
  const { stores, master, clock, times, modelFault, telemetry, log } = uses
  const { events, keys, snapshots, sharedEvents } = stores
  const secrets = secretsOf(master.secret)
  const vault = vaultOf({ keys: wrappedKeys(keys, master.rings) })
  const blobs = sealedBlobs({ blobs: stores.blobs, vault })
  const appends = watchedAppends()
  const plain = transactorOf({
    store: events,
    snapshots,
    clock,
    times,
    appends,
    log,
    shared: sharedEvents,
  })
  const transactor = telemetry ? tracedTransactor(plain, telemetry) : plain
  const commands = commandsOf({ transactor, clock, blobs, secrets, vault, modelFault })
  const { load, transact } = transactor
  const { failingSince } = appends
  return { secrets, vault, blobs, load, transact, commands, failingSince }
}
