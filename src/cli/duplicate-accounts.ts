import { masterKeyOf } from '../app/master-key.ts'
import { configFrom, type Environment } from '../config.ts'
import type { Sealed } from '../domain/sealed.ts'
import { userEvents } from '../domain/user/events.ts'
import type { RecordedEvent } from '../ports/event-store.ts'
import { type EventStore, START } from '../ports/event-store.ts'
import { comparedEmail } from '../security/email-address.ts'
import { openMasterKeys } from '../security/master-keys.ts'
import { type Vault, vault } from '../security/vault.ts'
import { wrappedKeys } from '../security/wrapped-keys.ts'
import { localStores } from './local-stores.ts'
import { table } from './table.ts'

/** An account as its events tell of it. */
export type Account = {
  userId: string
  /** Undefined where it was erased. */
  address: string | undefined
  registeredAt: string
  identities: readonly { provider: string; subjectHash: string }[]
}

type Stored = Omit<Account, 'address'> & { email: Sealed }

const prefix = 'user-'

const changed = (account: Stored | undefined, event: RecordedEvent): Stored | undefined => {
  const { type, data, stream, metadata } = event
  if (type === 'UserRegistered') {
    const { email } = userEvents.UserRegistered.parse(data)
    const userId = stream.slice(prefix.length)
    return { userId, email, registeredAt: metadata.at, identities: [] }
  }
  if (!account) return undefined
  if (type === 'AddressChanged')
    return { ...account, email: userEvents.AddressChanged.parse(data).email }
  if (type === 'IdentityLinked') {
    const identity = userEvents.IdentityLinked.parse(data)
    return { ...account, identities: [...account.identities, identity] }
  }
  return account
}

/** Every account of the log, the oldest first. */
const accountsIn = async (
  events: Pick<EventStore, 'history'>,
  open: Vault['open'],
): Promise<Account[]> => {
  const stored = new Map<string, Stored>()
  for await (const batch of events.history(START))
    for (const event of batch) {
      if (!event.stream.startsWith(prefix)) continue
      const account = changed(stored.get(event.stream), event)
      if (account) stored.set(event.stream, account)
    }
  const accounts: Account[] = []
  for (const { email, ...account } of stored.values())
    accounts.push({ ...account, address: await open(email) })
  return accounts
}

/** Accounts that have the same address or identity, by what they have in common. */
export const duplicatesOf = (accounts: readonly Account[]): Map<string, Account[]> => {
  const groups = new Map<string, Account[]>()
  const add = (reason: string, account: Account) =>
    groups.set(reason, [...(groups.get(reason) ?? []), account])
  for (const account of accounts) {
    if (account.address !== undefined) add(`address ${comparedEmail(account.address)}`, account)
    for (const { provider, subjectHash } of account.identities)
      add(`identity ${provider} ${subjectHash.slice(0, 12)}`, account)
  }
  return new Map([...groups].filter(([, group]) => group.length > 1))
}

const heading = ['SAME', 'ACCOUNT', 'ADDRESS', 'REGISTERED', 'SIGNS IN WITH']

/** A row for each account that is one with another. */
export const duplicateRows = (accounts: readonly Account[]): string =>
  table([
    heading,
    ...[...duplicatesOf(accounts)].flatMap(([reason, group]) =>
      group.map(({ userId, address, registeredAt, identities }) => [
        reason,
        userId,
        address ?? '(erased)',
        registeredAt,
        identities.map(({ provider }) => provider).join(', ') || '(never)',
      ]),
    ),
  ])

/** The accounts of the configured stores that are one, without a server. @throws CommandFailed */
export const duplicateAccounts = async (env: Environment): Promise<string> => {
  const config = configFrom(env)
  const stores = await localStores(config, 'stop it, or run this on a copy of its DATA_DIR')
  try {
    const { events, keys, sharedViews: shared } = stores
    const given = await masterKeyOf(config)
    const { rings } = await openMasterKeys({ keys, given, isNew: false, shared })
    const { open } = vault({ keys: wrappedKeys(keys, rings) })
    return duplicateRows(await accountsIn(events, open))
  } finally {
    await stores.close()
  }
}
