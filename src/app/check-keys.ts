import type { RegisterKeysCommand } from '../../commands/register-keys.ts'
import { installationStream } from '../domain/installation/installation.ts'
import type { Sealed } from '../domain/sealed.ts'
import { systemCall } from '../ports/call.ts'
import type { Clock } from '../ports/clock.ts'
import { type EventStore, START } from '../ports/event-store.ts'
import type { KeyStore } from '../ports/keys.ts'
import { SealBroken, type Vault } from '../security/vault.ts'

/** The keys at hand are not those that the stored events were written with. */
export class KeysMismatch extends Error {
  override readonly name = 'KeysMismatch'
}

const advice = 'start with the DATA_DIR (or MONGODB_URL) and MASTER_KEY that they were written with'

type Uses = {
  events: Pick<EventStore, 'head'>
  keys: Pick<KeyStore, 'some'>
  vault: Pick<Vault, 'keyed' | 'open'>
  registerKeys: RegisterKeysCommand
  clock: Clock
}

/** Undefined when these keys do not open it. @throws WrongMasterKey */
const openedWith = async (vault: Pick<Vault, 'open'>, check: Sealed) => {
  try {
    return await vault.open(check)
  } catch (error) {
    if (error instanceof SealBroken) return undefined
    throw error
  }
}

/**
 * Makes sure, before anything is served, that the master key and the data keys are those of the
 * stored events: with others, every API key would be unknown and every sealed text lost.
 * @throws KeysMismatch, WrongMasterKey
 */
export const checkKeys = async ({ events, keys, vault, registerKeys, clock }: Uses) => {
  const name = await keys.some()
  if (name !== undefined) await vault.keyed(name)
  else if ((await events.head()) !== START)
    throw new KeysMismatch(`there are events, but no keys that they were sealed with: ${advice}`)
  const { check } = await registerKeys(systemCall('start', clock.now()))
  const opened = await openedWith(vault, check)
  if (opened === undefined)
    throw new KeysMismatch(`the keys are of another installation than the events: ${advice}`)
}

/** Whether the registration of the keys is all that was ever stored. */
export const isEmptyStore = async (
  events: Pick<EventStore, 'head' | 'history'>,
): Promise<boolean> => {
  const head = await events.head()
  if (head === START) return true
  for await (const [first] of events.history(START, head))
    return first?.position === head && first.stream === installationStream.name
  return true
}
