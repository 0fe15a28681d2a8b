import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { projections } from '../../projections/all.ts'
import { commandsOf } from '../../src/app/commands.ts'
import { laterViewsOf, viewsOf } from '../../src/app/read-models.ts'
import { openStores } from '../../src/app/stores.ts'
import { transactor } from '../../src/event-sourcing/transactor.ts'
import type { Call } from '../../src/ports/call.ts'
import { silent } from '../../src/ports/log.ts'
import { projector } from '../../src/projector/projector.ts'
import { sealedBlobs } from '../../src/security/sealed-blobs.ts'
import { secretFrom, secretsOf, wrapOf } from '../../src/security/secrets.ts'
import { vault as vaultOf } from '../../src/security/vault.ts'
import { fixedKeys } from './fixed-keys.ts'
import { frozen } from './frozen.ts'
import { call } from './recorded.ts'
import { clockFrom } from './ticking.ts'

/** A request that the platform's key makes. */
export const platformCall: Call = {
  ...call,
  organizationId: 'platform',
  keyId: null,
  userId: null,
}

/** Every command over new embedded stores, and views that can be waited for. */
export const commanded = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const stores = await openStores({ DATA_DIR: path }, silent)
  const { keys, snapshots } = stores
  const store = frozen(stores.events)
  const clock = clockFrom(call.at)
  const secrets = secretsOf(secretFrom(Buffer.alloc(32, 7)))
  const vault = vaultOf({ keys: fixedKeys(keys, wrapOf(Buffer.alloc(32, 7))) })
  const blobs = sealedBlobs({ blobs: stores.blobs, vault })
  const transacting = transactor({ store, snapshots, clock })
  const modelFault = () => undefined
  const commands = commandsOf({
    transactor: transacting,
    clock,
    blobs,
    secrets,
    vault,
    modelFault,
  })
  const projecting = projector({ store, views: stores.views, projections })
  await projecting.start()
  t.teardown(async () => {
    await projecting.stop()
    await stores.close()
    await rm(path, { recursive: true, force: true })
  })
  return {
    ...stores,
    ...commands,
    blobs,
    commands,
    store,
    clock,
    secrets,
    vault,
    load: transacting.load,
    transact: transacting.transact,
    changes: projecting.changes,
    read: { ...(await viewsOf(stores.views)), ...(await laterViewsOf(stores.views)) },
    /** The errors that projections have stopped with. */
    stopped: () => projecting.state().flatMap(({ error }) => (error ? [error] : [])),
    /** Until the views show all there is. */
    seen: async () => {
      t.ok(await projecting.waitForPosition(await store.head(), 10_000), 'the views caught up')
    },
  }
}

export type Commanded = Awaited<ReturnType<typeof commanded>>
