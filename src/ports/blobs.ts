import type { Readable } from 'node:stream'

/** `name` has 64 hex digits: the SHA-256 of the bytes, or the caller's own. */
export type Blob = { name: string; size: number }

/** More bytes than the caller allows. Nothing was stored. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
}

/** Documents and generated content: large and immutable. Equal names mean equal content. */
export type Blobs = {
  /**
   * Stores what a stream gives, never whole in memory; durable when it resolves. Asks for the name
   * when the stream has ended; a blob that has the name already stays as it is.
   * @throws BlobTooLarge past `maxBytes`, StoreUnavailable, what the stream throws
   */
  put(
    bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    maxBytes?: number,
    nameOf?: (hash: string) => string,
  ): Promise<Blob>
  size(name: string): Promise<number | undefined>
  /** Bytes from `start` to `end` (inclusive; by default all bytes); undefined: no such blob. */
  get(name: string, range?: { start: number; end: number }): Promise<Readable | undefined>
  /** Gone when it resolves; no error where there was none. Callers know who else refers to it. */
  remove(name: string): Promise<void>
}
