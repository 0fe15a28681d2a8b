import { z } from 'zod'
import type { KeyRecords, KeyStore } from '../ports/keys.ts'
import { type LeaseClock, leaseTime, processClock } from '../support/lease-time.ts'
import { decrypted, encrypted } from './cipher.ts'
import { newSecret, secretFrom, wrapOf } from './secrets.ts'
import { type Ring, type Rings, unwrapped, WrongMasterKey } from './wrapped-keys.ts'

/**
 * For so long a process may wrap new keys without looking whether the master key rotates: as a
 * lease.
 */
export const freshMs = 10_000

const box = z.base64()

/**
 * What is stored of the master keys (docs/decisions/0019-rotating-the-master-key.md). `secret` has
 * the installation's secret under each accepted master key. While one is replaced, each of the two
 * keys opens the other: `next` is under the old one, `previous` under the new one.
 */
const stored = z.object({
  secret: z.array(box).min(1).max(2),
  rotation: z.object({ next: box, previous: box }).optional(),
})
type Stored = z.infer<typeof stored>

const names = { secret: 'installation:secret', next: 'master:next', previous: 'master:previous' }

const sealed = (master: Uint8Array, name: string, bytes: Uint8Array): string =>
  encrypted(wrapOf(master), name, bytes).toString('base64')

const opened = (master: Uint8Array, name: string, text: string): Buffer | undefined =>
  decrypted(wrapOf(master), name, Buffer.from(text, 'base64'))

const bytesOf = (record: Stored): Buffer => Buffer.from(JSON.stringify(record))
const parsed = (bytes: Uint8Array): Stored =>
  stored.parse(JSON.parse(Buffer.from(bytes).toString()))

/** The master keys that a record accepts, opened with one of them. */
type Accepted = { secret: Buffer; master: Uint8Array; previous?: Uint8Array }

const acceptedBy = (record: Stored, known: Uint8Array): Accepted | undefined => {
  const secret = record.secret.map((text) => opened(known, names.secret, text)).find(Boolean)
  if (!secret) return undefined
  const { rotation } = record
  if (!rotation) return { secret, master: known }
  const next = opened(known, names.next, rotation.next)
  if (next) return { secret, master: next, previous: known }
  const previous = opened(known, names.previous, rotation.previous)
  return previous && { secret, master: known, previous }
}

const ringOf = ({ master, previous }: Accepted): Ring => ({
  wrap: wrapOf(master),
  ...(previous ? { other: wrapOf(previous) } : {}),
})

type Keys = Pick<KeyStore, 'some' | 'get'> & KeyRecords

/**
 * The first record: a new installation has a random secret, an older one that of its master key.
 */
const firstRecord = async (keys: Keys, given: Uint8Array, isNew: boolean): Promise<Stored> => {
  const name = await keys.some()
  const wrapped = name === undefined ? undefined : await keys.get(name)
  if (name !== undefined && wrapped && !unwrapped({ wrap: wrapOf(given) }, name, wrapped))
    throw new WrongMasterKey(name)
  const secret = isNew && name === undefined ? newSecret() : secretFrom(given)
  return { secret: [sealed(given, names.secret, secret)] }
}

/** The installation's secret, without changing anything. @throws WrongMasterKey */
export const readSecret = async (
  keys: Pick<KeyRecords, 'record'>,
  given: Uint8Array,
): Promise<Buffer> => {
  const bytes = await keys.record()
  if (!bytes) return secretFrom(given)
  const accepted = acceptedBy(parsed(bytes), given)
  if (!accepted) throw new WrongMasterKey(names.secret)
  return accepted.secret
}

type Uses = {
  keys: Keys
  /** The master key that this process was started with. */
  given: Uint8Array
  /** No event was ever stored. */
  isNew: boolean
  /** Other processes use the same keys. */
  shared: boolean
  clock?: LeaseClock
}

/**
 * The master keys that are accepted: one, or two while one replaces the other. Reads the record of
 * them again where another process may have changed it.
 * @throws WrongMasterKey
 */
export const openMasterKeys = async (uses: Uses) => {
  const { keys, given, isNew, shared, clock = processClock } = uses
  const { moment, since } = leaseTime(clock)
  const read = async (): Promise<Uint8Array> => {
    const bytes = await keys.record()
    if (bytes) return bytes
    const hasKeys = (await keys.some()) !== undefined
    const first = bytesOf(await firstRecord(keys, given, isNew))
    // Events without keys: the start is refused, and nothing is stored before.
    if (!hasKeys && !isNew) return first
    return (await keys.replaceRecord(undefined, first)) ? first : read()
  }

  let bytes: Uint8Array = new Uint8Array()
  let accepted: Accepted = { secret: Buffer.alloc(0), master: given }
  let ring: Ring = { wrap: wrapOf(given) }
  let readAt = moment()

  const refresh = async (): Promise<void> => {
    const before = moment()
    const latest = await read()
    if (Buffer.compare(latest, bytes) !== 0) {
      const known = [accepted.master, given, ...(accepted.previous ? [accepted.previous] : [])]
      const record = parsed(latest)
      const match = known.map((key) => acceptedBy(record, key)).find(Boolean)
      if (!match) throw new WrongMasterKey(names.secret)
      bytes = latest
      accepted = match
      ring = ringOf(match)
    }
    readAt = before
  }
  await refresh()

  const replace = async (record: Stored): Promise<boolean> => {
    const held = await keys.replaceRecord(bytes, bytesOf(record))
    await refresh()
    return held
  }

  const rings: Rings = {
    now: () => ring,
    isFresh: () => !shared || since(readAt) < freshMs,
    refresh,
  }

  return {
    secret: accepted.secret,
    rings,
    refresh,
    /** The key that new data keys are wrapped under, and the one that it replaces. */
    accepted: (): Omit<Accepted, 'secret'> => accepted,
    /** Accepts another key from now on; false when the record has changed meanwhile. */
    begin(next: Uint8Array): Promise<boolean> {
      const { secret, master } = accepted
      return replace({
        secret: [sealed(master, names.secret, secret), sealed(next, names.secret, secret)],
        rotation: {
          next: sealed(master, names.next, next),
          previous: sealed(next, names.previous, master),
        },
      })
    },
    /** Accepts the new key only; false when the record has changed meanwhile. */
    finish(): Promise<boolean> {
      const { secret, master } = accepted
      return replace({ secret: [sealed(master, names.secret, secret)] })
    },
  }
}
export type MasterKeys = Awaited<ReturnType<typeof openMasterKeys>>
