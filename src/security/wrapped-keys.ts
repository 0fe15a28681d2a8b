import type { KeyObject } from 'node:crypto'
import type { KeyRecords, KeyStore } from '../ports/keys.ts'
import { decrypted, encrypted } from './cipher.ts'

/** The data was written under another MASTER_KEY. */
export class WrongMasterKey extends Error {
  override readonly name = 'WrongMasterKey'
  constructor(keyName: string) {
    super(`MASTER_KEY does not open the key ${keyName}: it is not the one it was made with`)
  }
}

/** New keys are wrapped with `wrap`; while the master key rotates, `other` opens keys as well. */
export type Ring = { wrap: KeyObject; other?: KeyObject }

/** The ring of an installation, which other processes may change. */
export type Rings = {
  now(): Ring
  /** Whether the ring was read so lately that no rotation has passed over it. */
  isFresh(): boolean
  /** Reads it again. @throws WrongMasterKey */
  refresh(): Promise<void>
}

/** Data keys in the clear, as the vault uses them. */
export type DataKeys = {
  /** Undefined where there is none, or where it was destroyed. @throws WrongMasterKey */
  get(name: string): Promise<Uint8Array | undefined>
  /**
   * Stores a key unless the name has one, and returns the key that is stored.
   * @throws KeyDestroyed
   */
  create(name: string, key: Uint8Array): Promise<Uint8Array>
  destroy(name: string): Promise<void>
}

/** A key that is being stored, and how it is wrapped. */
type Offered = { key: Uint8Array; wrap: KeyObject; box: Buffer }

/** A key in the clear, if a key of the ring opens it. */
export const unwrapped = (
  { wrap, other }: Ring,
  name: string,
  wrapped: Uint8Array,
): Buffer | undefined =>
  decrypted(wrap, name, wrapped) ?? (other && decrypted(other, name, wrapped))

/** Data keys that are stored wrapped under the master key. */
export const wrappedKeys = (
  keys: Pick<KeyStore, 'get' | 'create' | 'destroy'> & Pick<KeyRecords, 'rewrap'>,
  rings: Rings,
): DataKeys => {
  const opened = async (name: string, wrapped: Uint8Array): Promise<Uint8Array> => {
    const known = unwrapped(rings.now(), name, wrapped)
    if (known) return Uint8Array.from(known)
    await rings.refresh()
    const key = unwrapped(rings.now(), name, wrapped)
    if (!key) throw new WrongMasterKey(name)
    return Uint8Array.from(key)
  }

  /** The key that holds, once it is stored. */
  const held = async (name: string, offered: Offered, stored: Uint8Array): Promise<Uint8Array> => {
    const { key, wrap, box } = offered
    if (!box.equals(stored)) return opened(name, stored)
    return rings.isFresh() && rings.now().wrap === wrap ? key : rewrapped(name, offered)
  }

  /** A rotation that began meanwhile may have passed by already. */
  const rewrapped = async (name: string, { key, wrap, box }: Offered): Promise<Uint8Array> => {
    if (!rings.isFresh()) await rings.refresh()
    const ring = rings.now()
    if (!ring.wrap.equals(wrap))
      await keys.rewrap([{ name, from: box, to: encrypted(ring.wrap, name, key) }])
    return key
  }

  return {
    async get(name) {
      const wrapped = await keys.get(name)
      return wrapped && opened(name, wrapped)
    },

    async create(name, key) {
      if (!rings.isFresh()) await rings.refresh()
      const { wrap } = rings.now()
      const offered = { key, wrap, box: encrypted(wrap, name, key) }
      return held(name, offered, await keys.create(name, offered.box))
    },

    destroy: keys.destroy,
  }
}
