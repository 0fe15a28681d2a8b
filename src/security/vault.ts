import { createHmac, hkdfSync } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Sealed } from '../domain/sealed.ts'
import { atMost } from '../support/at-most.ts'
import { decrypted, encrypted, keyBytes, newKey } from './cipher.ts'
import { packed, unpacked } from './packing.ts'
import type { DataKeys } from './wrapped-keys.ts'

/** How long another node that has a destroyed key in memory may still open text with it. */
const keyTtlMs = 60_000
/** The clock of a cache is read this often: at every use it would cost a timer each millisecond. */
const clockMs = 100

/** Sealed text or bytes were changed, or were sealed under another name. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken'
  constructor(keyName: string) {
    super(`what was sealed for ${keyName} was altered`)
  }
}

/** The data key of a session's texts. */
export const sessionKey = (organizationId: string, sessionId: string): string =>
  `session:${organizationId}/${sessionId}`

/** The data key of texts that belong to an organization as a whole. */
export const organizationKey = (organizationId: string): string => `organization:${organizationId}`

/** Of the first generation, or of a later one: after an erasure (src/domain/erasure.ts). */
const ofGeneration = (name: string, generation: number): string =>
  generation === 0 ? name : `${name}/${generation}`

/** The data key of the memories of a user in one organization. */
export const memoryKey = (organizationId: string, userId: string, generation = 0): string =>
  ofGeneration(`memory:${organizationId}/${userId}`, generation)

/** The data key of the documents of a DataStore, and of all that is made of them. */
export const datastoreKey = (organizationId: string, datastoreId: string): string =>
  `datastore:${organizationId}/${datastoreId}`

/** The data key of a user's credentials in one organization. */
export const credentialsKey = (organizationId: string, userId: string, generation = 0): string =>
  ofGeneration(`credentials:${organizationId}/${userId}`, generation)

/** Whether a data key is for credentials, whose values go only to the user's tools. */
export const isCredentialsKey = (name: string): boolean => name.startsWith('credentials:')

/** The data key of the address and name that an organization invited a person with. */
export const memberKey = (organizationId: string, userId: string, generation = 0): string =>
  ofGeneration(`member:${organizationId}/${userId}`, generation)

/** The data key of a person's email and name. */
export const userKey = (userId: string, generation = 0): string =>
  ofGeneration(`user:${userId}`, generation)

/** The data key of the text that shows whether keys and events belong together. */
export const installationKey = 'installation:keys'

const ofOrganization =
  /^(?:session|memory|datastore|credentials|member):([^/]+)\/|^organization:(.+)$/s

/** Whether a data key is one of this organization. Keys of persons and of the platform are not. */
export const isKeyOf = (organizationId: string, name: string): boolean => {
  const match = ofOrganization.exec(name)
  return match !== null && (match[1] ?? match[2]) === organizationId
}

/** A data key in memory, so that sealing and opening are synchronous. */
export type Keyed = {
  seal(text: string): Sealed
  /** @throws SealBroken */
  open(sealed: Sealed): string
  /**
   * A text as bytes that `sealPacked` of another key takes, without unpacking it. @throws
   * SealBroken
   */
  openPacked(sealed: Sealed): Buffer
  sealPacked(packed: Uint8Array): Sealed
  /** Seals bytes, bound to what they are for as well as to the key's name. */
  sealBytes(bytes: Uint8Array, purpose: string): Buffer
  /** @throws SealBroken */
  openBytes(box: Uint8Array, purpose: string): Buffer
  /** A name, in hex, for what has this digest: equal ones under one key, unlike under any two. */
  nameOf(digest: string): string
}

type Options = {
  keys: DataKeys
  /** How many data keys are kept in memory. */
  maxKeys?: number
  /** How many characters of opened text are kept. */
  maxText?: number
}

/**
 * Seals text under data keys that can be destroyed (AES-256-GCM, bound to the key's name). Data
 * keys are random and stored wrapped.
 */
export const vault = ({ keys, maxKeys = 20_000, maxText = 16_000_000 }: Options) => {
  const atHand = new LRUCache<string, Keyed>({
    ...atMost(maxKeys),
    ttl: keyTtlMs - clockMs,
    ttlResolution: clockMs,
  })
  const opened = new LRUCache<string, { name: string; text: string }>({
    max: 20_000,
    maxSize: maxText,
    sizeCalculation: ({ text }, box) => text.length + box.length,
  })
  const coming = new Map<string, Promise<Keyed | undefined>>()
  let destroyed = 0

  const openedBy = (name: string, key: Uint8Array, { $sealed, box }: Sealed): Buffer => {
    const plain = $sealed === name ? decrypted(key, name, Buffer.from(box, 'base64')) : undefined
    if (!plain) throw new SealBroken(name)
    return plain
  }

  const sealedBy = (name: string, key: Uint8Array, plain: string | Uint8Array): Sealed => ({
    $sealed: name,
    box: encrypted(key, name, plain).toString('base64'),
  })

  const keyedBy = (name: string, key: Uint8Array): Keyed => ({
    seal: (text) => sealedBy(name, key, packed(text)),
    open(sealed) {
      const { $sealed, box } = sealed
      const known = opened.get(box)
      if (known && known.name === $sealed) return known.text
      const text = unpacked(openedBy(name, key, sealed))
      opened.set(box, { name, text })
      return text
    },
    openPacked: (sealed) => openedBy(name, key, sealed),
    sealPacked: (bytes) => sealedBy(name, key, bytes),
    sealBytes: (bytes, purpose) => encrypted(key, `${name}\n${purpose}`, bytes),
    openBytes(box, purpose) {
      const plain = decrypted(key, `${name}\n${purpose}`, box)
      if (!plain) throw new SealBroken(name)
      return plain
    },
    nameOf(digest) {
      const naming = Buffer.from(hkdfSync('sha256', key, '', 'names of blobs', keyBytes))
      return createHmac('sha256', naming).update(digest).digest('hex')
    },
  })

  /** Keeps a key in memory, unless one was destroyed after it was requested. */
  const remember = (name: string, key: Uint8Array, before: number): Keyed => {
    const keyed = keyedBy(name, key)
    if (before === destroyed) atHand.set(name, keyed)
    return keyed
  }

  /** Other callers meanwhile wait for the same promise. */
  const awaited = (name: string, key: Promise<Uint8Array | undefined>) => {
    const before = destroyed
    const keyed = key
      .then((bytes) => bytes && remember(name, bytes, before))
      .finally(() => coming.delete(name))
    coming.set(name, keyed)
    return keyed
  }

  const existing = (name: string) => coming.get(name) ?? awaited(name, keys.get(name))

  const forget = (name: string): void => {
    destroyed++
    atHand.delete(name)
    const entries = [...opened.entries()].filter(([, known]) => known.name === name)
    for (const [box] of entries) opened.delete(box)
  }

  /** A new key, or the one that another caller stored first. */
  const created = (name: string): Promise<Keyed | undefined> =>
    coming.get(name) ?? awaited(name, keys.create(name, newKey()))

  const ensure = async (name: string): Promise<Keyed> =>
    (await existing(name)) ?? (await created(name)) ?? ensure(name)

  /** As `ensure`, without looking for a key first. */
  const first = async (name: string): Promise<Keyed> => (await created(name)) ?? ensure(name)

  return {
    /**
     * The key of a name, made if there is none. `isNew`: the name was made just now, so no key is
     * looked for. @throws KeyDestroyed, WrongMasterKey
     */
    keyed: async (name: string, isNew = false): Promise<Keyed> =>
      atHand.get(name) ?? (isNew ? first(name) : ensure(name)),

    /** The key of a name, if there is one. @throws WrongMasterKey */
    found: async (name: string): Promise<Keyed | undefined> => atHand.get(name) ?? existing(name),

    /** @throws KeyDestroyed, WrongMasterKey */
    async seal(name: string, text: string): Promise<Sealed> {
      return (atHand.get(name) ?? (await ensure(name))).seal(text)
    },

    /** The text; undefined once its key is destroyed. @throws SealBroken, WrongMasterKey */
    async open(sealed: Sealed): Promise<string | undefined> {
      const keyed = atHand.get(sealed.$sealed) ?? (await existing(sealed.$sealed))
      return keyed?.open(sealed)
    },

    /** Makes every text under this name unreadable for good: here at once, on other nodes soon. */
    async destroy(name: string): Promise<void> {
      await keys.destroy(name)
      forget(name)
    },

    /** Takes note of a key that was destroyed elsewhere in this process. */
    forget,
  }
}

export type Vault = ReturnType<typeof vault>
