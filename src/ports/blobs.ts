import type { Readable } from 'node:stream'

/** A blob as it is stored: named by the SHA-256 of its bytes (hex), so that equal bytes are one. */
export type Blob = { hash: string; size: number }

/** More bytes than the caller allows. Nothing was stored. */
export class BlobTooLarge extends Error {
  override readonly name = 'BlobTooLarge'
}

/** Documents and generated content: large, immutable, named by their content. */
export type Blobs = {
  /**
   * Stores what a stream gives, never whole in memory; durable when it resolves.
   * @throws BlobTooLarge past `maxBytes`, StoreUnavailable, what the stream throws
   */
  put(bytes: AsyncIterable<Uint8Array>, maxBytes?: number): Promise<Blob>
  size(hash: string): Promise<number | undefined>
  /** Bytes from `start` to `end` (inclusive; both default to the whole); undefined: no such blob. */
  get(hash: string, range?: { start: number; end: number }): Promise<Readable | undefined>
  /** Gone when it resolves; no error where there was none. Callers know who else refers to it. */
  remove(hash: string): Promise<void>
}
