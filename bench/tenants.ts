import { commandsOf } from '../src/app/commands.ts'
import { masterKeyOf } from '../src/app/master-key.ts'
import { openStores } from '../src/app/stores.ts'
import { systemClock as clock } from '../src/app/system-clock.ts'
import { configFrom, type Environment } from '../src/config.ts'
import { creditUnit } from '../src/domain/amounts.ts'
import type { Scope } from '../src/domain/api-key/scopes.ts'
import { platformGiver } from '../src/domain/api-key/who-may.ts'
import { transactor } from '../src/event-sourcing/transactor.ts'
import { type Call, systemCall } from '../src/ports/call.ts'
import { silent } from '../src/ports/log.ts'
import { readSecret } from '../src/security/master-keys.ts'
import { sealedBlobs } from '../src/security/sealed-blobs.ts'
import { secretsOf, wrapOf } from '../src/security/secrets.ts'
import { vault as vaultOf } from '../src/security/vault.ts'
import { fixedKeys } from '../test/support/fixed-keys.ts'

/** An organization with one user on the Pro plan, and a key of it. */
export type Tenant = { organizationId: string; userId: string; keyId: string; key: string }

const credits = 1_000_000 * creditUnit

/** A call of the platform's, for what no key of an organization may do. */
export const platformCall = (): Call => systemCall(clock.id(), clock.now())

/** The stores of a data directory and what writes to them, as a server has them but for views. */
export const openWriting = async (dataDir: string, env: Environment = {}) => {
  const config = configFrom({ ...env, DATA_DIR: dataDir })
  const masterKey = await masterKeyOf(config)
  const stores = await openStores(config, silent)
  const { events, keys, snapshots } = stores
  const secrets = secretsOf(await readSecret(keys, masterKey))
  const vault = vaultOf({ keys: fixedKeys(keys, wrapOf(masterKey)) })
  const blobs = sealedBlobs({ blobs: stores.blobs, vault })
  const writing = transactor({ store: events, snapshots, clock })
  const modelFault = () => undefined
  const commands = commandsOf({ transactor: writing, clock, blobs, secrets, vault, modelFault })
  return { ...stores, vault, commands }
}

export type Writing = Awaited<ReturnType<typeof openWriting>>

type Commands = Writing['commands']

/** Keys have the usual scopes, unless some are given. */
const makeKey = (commands: Commands, organizationId: string, scopes?: readonly Scope[]) =>
  commands.createApiKey(
    {
      type: 'organization',
      name: 'bench',
      description: '',
      rateLimitMinute: 1_000,
      rateLimitHour: 100_000,
      expiresAt: null,
      provisioning: false,
      by: platformGiver,
      scopes,
    },
    { ...platformCall(), organizationId },
  )

/** Enough tenants that a load over their keys sends each less than 300 requests a minute. */
export const makeTenants = (
  { commands }: Writing,
  count: number,
  scopes?: readonly Scope[],
): Promise<Tenant[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, n): Promise<Tenant> => {
      const owner = { email: `owner-${n}@bench.invalid`, name: `Owner ${n}` }
      const { organizationId, ownerUserId } = await commands.createOrganization(
        { name: `Organization ${n}`, owner, plan: 'pro_monthly', credits },
        platformCall(),
      )
      const { key, keyId } = await makeKey(commands, organizationId, scopes)
      return { organizationId, userId: ownerUserId, keyId, key }
    }),
  )

/** The same with further keys of one organization: each has its own limit of requests a minute. */
export const makeKeys = ({ commands }: Writing, tenant: Tenant, count: number): Promise<Tenant[]> =>
  Promise.all(
    Array.from({ length: count }, async () => ({
      ...tenant,
      ...(await makeKey(commands, tenant.organizationId)),
    })),
  )
