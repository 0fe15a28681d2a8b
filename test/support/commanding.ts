import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'
import { commandsOf } from '../../src/app/commands.ts'
import { openStores } from '../../src/app/stores.ts'
import { accountStream, decideGrant } from '../../src/domain/account/account.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { type Transactor, transactor } from '../../src/event-sourcing/transactor.ts'
import type { Call } from '../../src/ports/call.ts'
import { silent } from '../../src/ports/log.ts'
import { sealedBlobs } from '../../src/security/sealed-blobs.ts'
import { secretFrom, secretsOf, wrapOf } from '../../src/security/secrets.ts'
import { vault as vaultOf } from '../../src/security/vault.ts'
import { fixedKeys } from './fixed-keys.ts'
import { frozen } from './frozen.ts'
import { gathered } from './noted.ts'
import { call, platformCall } from './recorded.ts'
import { clockFrom } from './ticking.ts'

type Act = (call: Call) => Promise<unknown>

const unlessRefused = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error
}

/** Every command over new embedded stores, without read models: for all tests of a file. */
export const commanding = async (t: Test) => {
  const path = await mkdtemp(join(tmpdir(), 'reprise-'))
  const stores = await openStores({ DATA_DIR: path }, silent)
  const { keys, snapshots } = stores
  const store = frozen(stores.events)
  const clock = clockFrom(call.at)
  const secrets = secretsOf(secretFrom(Buffer.alloc(32, 7)))
  const vault = vaultOf({ keys: fixedKeys(keys, wrapOf(Buffer.alloc(32, 7))) })
  const blobs = sealedBlobs({ blobs: stores.blobs, vault })
  const streams = transactor({ store, snapshots, clock })
  const modelFault = () => undefined
  const commandsOver = (transactor: Transactor) =>
    commandsOf({ transactor, clock, blobs, secrets, vault, modelFault })
  const commands = commandsOver(streams)
  t.teardown(async () => {
    await stores.close()
    await rm(path, { recursive: true, force: true })
  })
  let lastScope = 0

  /** The events that come of it, in the order in which they are stored. */
  const appended = async (act: () => Promise<unknown>) => {
    const before = await store.head()
    await act()
    const events = await gathered(store.history(before))
    return events.map(({ type, data, stream }) => ({ type, data, stream }))
  }

  /** The same of a call that comes twice: the second time it appends nothing, refused or not. */
  const appendedOnce = async (t: Test, act: Act, by: Call) => {
    const scoped = { ...by, scope: `scope-${++lastScope}` }
    const events = await appended(() => act(scoped))
    t.ok(events.length > 0, 'it appends something')
    t.strictSame(await appended(() => act(scoped).catch(unlessRefused)), [], 'done again: nothing')
    return events
  }

  return {
    ...stores,
    ...commands,
    ...streams,
    commands,
    store,
    blobs,
    clock,
    secrets,
    vault,
    appended,
    appendedOnce,

    /** The commands of a process that shares the log with others. */
    node: () => commandsOver(transactor({ store, snapshots, clock, shared: true })),

    /** One credit for user-1, who has no account otherwise. */
    credited: () => {
      const grant = decideGrant({ grantId: 'first', amount: 1_000_000, reason: 'test' })
      return streams.transact(accountStream('user-1'), grant, call)
    },

    /** An organization with an owner of its own; `by` is a call of the owner in it. */
    async organization(plan: 'pro_monthly' | null = null) {
      const n = ++lastScope
      const owner = { email: `owner-${n}@example.com`, name: 'Olga' }
      const organization = await commands.createOrganization(
        { name: `O ${n}`, owner, plan },
        platformCall,
      )
      const { organizationId, ownerUserId: ownerId, orchestratorAgentId } = organization
      const by: Call = { ...call, organizationId, userId: ownerId }
      return {
        organizationId,
        ownerId,
        email: owner.email,
        orchestratorAgentId,
        by,
        /** A member who has joined, and backs keys of others. */
        async member(role: 'ADMIN' | 'MEMBER' = 'MEMBER'): Promise<string> {
          const email = `member-${++lastScope}@example.com`
          const { userId } = await commands.addMember({ email, role }, by)
          const accept = [{ organizationId, allowBacking: true }]
          const login = { email, provider: 'test', subject: email, accept }
          await commands.recordLogin(login, platformCall)
          return userId
        },
        /** A user whom a partner added. */
        async provisioned(): Promise<string> {
          const email = `provisioned-${++lastScope}@example.com`
          return (await commands.provisionUser({ email }, by)).userId
        },
      }
    },
  }
}

export const typesOf = (events: readonly { type: string }[]): string[] =>
  events.map(({ type }) => type)
