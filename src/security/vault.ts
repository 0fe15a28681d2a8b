import { type KeyObject, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sealed } from '../domain/sealed.ts'
import type { KeyStore } from '../ports/keys.ts'
import { decrypted, encrypted } from './cipher.ts'
import { packed, unpacked } from './packing.ts'

const keyBytes = 32
/** How long a destroyed key may still open text on another node that had it in memory. */
const keyTtlMs = 60_000

/** MASTER_KEY is not the one that the data was written under. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
  constructor(keyName: string) {
    super(`MASTER_KEY does not open the data key of ${keyName}: it is not the one it was made with`)
  }
}

/** A sealed text is not what was sealed, or not under this name. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
  constructor(keyName: string) {
    super(`a text sealed for ${keyName} was altered`)
  }
}

/** The data key of a session's texts. */
export const sessionKey = (organizationId: string, sessionId: string): string =>
  `session:${organizationId}/${sessionId}`

/** The data key of what belongs to an organization as a whole. */
export const organizationKey = (organizationId: string): string => `organization:${organizationId}`

/** The data key of what is remembered of a user in one organization. */
export const memoryKey = (organizationId: string, userId: string): string =>
  `memory:${organizationId}/${userId}`

/** The data key of a user's credentials in one organization. */
export const credentialsKey = (organizationId: string, userId: string): string =>
  `credentials:${organizationId}/${userId}`

/** Whether a data key is one of credentials, whose values go to the user's tools and nowhere else. */
export const isCredentialsKey = (name: string): boolean => name.startsWith('credentials:')

/** The data key of a person's email and name. */
export const userKey = (userId: string): string => `user:${userId}`

/** The data key of what proves that keys and events belong together. */
export const installationKey = 'installation:keys'

/** One data key at hand: sealing and opening without waiting. */
export type Keyed = {
  seal(text: string): Sealed
  /** @throws SealBroken */
  open(sealed: Sealed): string
}

type Options = {
  keys: KeyStore
  /** 32 bytes derived from MASTER_KEY. */
  wrap: KeyObject
  /** How many data keys are kept at hand. */
  keptKeys?: number
  /** How many characters of opened text are kept. */
  keptText?: number
}

/**
 * Seals text under data keys that can be destroyed (AES-256-GCM, bound to the key's name); data
 * keys are random and stored wrapped. What is at hand is answered at once, without a promise: a
 * turn on a session that is in memory seals without waiting.
 */
export const vault = ({ keys, wrap, keptKeys = 20_000, keptText = 16_000_000 }: Options) => {
  const atHand = new LRUCache<string, Keyed>({ max: keptKeys, ttl: keyTtlMs })
  const opened = new LRUCache<string, { name: string; text: string }>({
    max: 20_000,
    maxSize: keptText,
    sizeCalculation: ({ text }, box) => text.length + box.length,
  })
  const coming = new Map<string, Promise<Keyed | undefined>>()
  let destroyed = 0

  const keyedBy = (name: string, key: Uint8Array): Keyed => ({
    seal(text) {
      return { $sealed: name, box: encrypted(key, name, packed(text)).toString('base64') }
    },
    open({ $sealed, box }) {
      const known = opened.get(box)
      if (known && known.name === $sealed) return known.text
      const plain = $sealed === name ? decrypted(key, name, Buffer.from(box, 'base64')) : undefined
      if (!plain) throw new SealBroken(name)
      const text = unpacked(plain)
      opened.set(box, { name, text })
      return text
    },
  })

  const unwrapped = (name: string, wrapped: Uint8Array): Uint8Array => {
    const key = decrypted(wrap, name, wrapped)
    if (!key) throw new WrongMasterKey(name)
    return Uint8Array.from(key)
  }

  const found = async (name: string): Promise<Uint8Array | undefined> => {
    const wrapped = await keys.get(name)
    return wrapped && unwrapped(name, wrapped)
  }

  /** A new key, or the one that another was faster to store. */
  const created = async (name: string): Promise<Uint8Array> => {
    const key = Uint8Array.from(randomBytes(keyBytes))
    const offered = encrypted(wrap, name, key)
    const stored = await keys.create(name, offered)
    return offered.equals(stored) ? key : unwrapped(name, stored)
  }

  /** Finds or makes a key; whoever else wants it meanwhile waits for the same answer. */
  const fetched = (name: string, find: (name: string) => Promise<Uint8Array | undefined>) => {
    const before = destroyed
    const keyed = find(name).then((key) => {
      if (!key) return undefined
      const keyed = keyedBy(name, key)
      if (before === destroyed) atHand.set(name, keyed)
      return keyed
    })
    const settled = keyed.finally(() => coming.delete(name))
    coming.set(name, settled)
    return settled
  }

  const existing = (name: string) => coming.get(name) ?? fetched(name, found)

  const made = async (name: string): Promise<Keyed> => {
    const keyed = (await existing(name)) ?? (await (coming.get(name) ?? fetched(name, created)))
    return keyed ?? made(name)
  }

  return {
    /**
     * The key of a name, made where there is none. At once when it is at hand.
     * @throws KeyDestroyed, WrongMasterKey
     */
    keyed: (name: string): Keyed | Promise<Keyed> => atHand.get(name) ?? made(name),

    /** @throws KeyDestroyed, WrongMasterKey */
    async seal(name: string, text: string): Promise<Sealed> {
      return (atHand.get(name) ?? (await made(name))).seal(text)
    },

    /**
     * The text; undefined once its key is destroyed. At once when the key is at hand.
     * @throws SealBroken, WrongMasterKey
     */
    open(sealed: Sealed): string | undefined | Promise<string | undefined> {
      const keyed = atHand.get(sealed.$sealed)
      return keyed
        ? keyed.open(sealed)
        : existing(sealed.$sealed).then((found) => found?.open(sealed))
    },

    /** Makes every text under this name unreadable, here at once and everywhere for good. */
    async destroy(name: string): Promise<void> {
      await keys.destroy(name)
      destroyed++
      atHand.delete(name)
      const gone = [...opened.entries()].filter(([, known]) => known.name === name)
      for (const [box] of gone) opened.delete(box)
    },
  }
}

export type Vault = ReturnType<typeof vault>
