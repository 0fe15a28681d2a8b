/**
 * Where wrapped data keys are kept, apart from events and views, so that destroying one makes text
 * unreadable in every copy of those. What is stored is already encrypted under the master key.
 */
export type KeyStore = {
  /** The wrapped key, or undefined when it never was or was destroyed. */
  get(name: string): Promise<Uint8Array | undefined>
  /** A name that has a key; undefined where no name has one. */
  some(): Promise<string | undefined>
  /**
   * Stores a key unless the name has one, and returns the key that is stored. No append issued
   * after it resolves can be durable before this key is. @throws KeyDestroyed
   */
  create(name: string, wrapped: Uint8Array): Promise<Uint8Array>
  /** Gone for good, durably, when it resolves. The name stays burnt: `create` refuses it. */
  destroy(name: string): Promise<void>
}

/** A data key as it is stored; undefined where it was destroyed. */
export type WrappedKey = { name: string; wrapped: Uint8Array | undefined }

/** What the rotation of the master key needs of the store of data keys. */
export type KeyRecords = {
  /** The record that names the accepted master keys; undefined where there is none yet. */
  record(): Promise<Uint8Array | undefined>
  /**
   * Replaces the record if it is still `from`, and answers whether it was. When it resolves, the
   * record is on disk, and so is every key that was created before.
   */
  replaceRecord(from: Uint8Array | undefined, to: Uint8Array): Promise<boolean>
  /** Up to `limit` keys behind this one, in an order that never changes; none: that was all. */
  list(after: string | undefined, limit: number): Promise<readonly WrappedKey[]>
  /**
   * Stores keys in another form, on disk when it resolves. One that is not `from` any more, or was
   * destroyed, stays as it is.
   */
  rewrap(changes: readonly { name: string; from: Uint8Array; to: Uint8Array }[]): Promise<void>
}

/** `create` of a name whose key was destroyed. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed'
}
