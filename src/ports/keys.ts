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
   * Stores a key unless the name has one, and answers the one that holds. When it resolves, no
   * append issued afterwards can be durable before this key is.
   */
  create(name: string, wrapped: Uint8Array): Promise<Uint8Array>
  /** Gone for good, durably, when it resolves. The name stays burnt: `create` refuses it. */
  destroy(name: string): Promise<void>
}

/** `create` of a name whose key was destroyed. */
export class KeyDestroyed extends Error {
  override readonly name = 'KeyDestroyed'
}
