import { createHash } from 'node:crypto'
import type { MessagePart } from '../domain/session/events.ts'
import type { KeyedBlobs } from '../security/sealed-blobs.ts'
import type { Keyed } from '../security/vault.ts'

/** A session's data key, and the blobs under it. */
type Place = { key: Keyed; files: KeyedBlobs }

type Copied = {
  /** For the event of the message in the other session. */
  parts: MessagePart[]
  /** Seals the files there; after the event is stored, as nothing else would know of them. */
  store(): Promise<void>
}

const hashOf = async (bytes: AsyncIterable<Uint8Array>): Promise<string> => {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}

/**
 * The files of a message for a copy of it in another session: sealed again under that session's key,
 * so that erasing one session leaves the other whole. Each file is read twice, in frames, and never
 * whole in memory. One that is gone stays gone. @throws StoreUnavailable, KeyDestroyed
 */
export const copiedParts = async (
  original: readonly MessagePart[],
  messageId: string,
  from: Place,
  to: Place,
): Promise<Copied> => {
  const parts: MessagePart[] = []
  for (const [n, part] of original.entries()) {
    const bytes = await from.files.get(part.blob)
    // A name that no file has.
    const hash = bytes ? await hashOf(bytes) : part.blob
    const { name, ...rest } = part
    parts.push({
      ...rest,
      id: `${messageId}_${n}`,
      blob: to.key.nameOf(hash),
      ...(name === undefined ? {} : { name: to.key.seal(from.key.open(name)) }),
    })
  }
  return {
    parts,
    async store() {
      for (const { blob } of original) {
        const bytes = await from.files.get(blob)
        if (bytes) await to.files.put(bytes)
      }
    },
  }
}
