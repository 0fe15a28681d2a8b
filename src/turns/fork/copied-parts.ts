import { createHash } from 'node:crypto'
import type { MessagePart } from '../../domain/session/events.ts'
import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import type { Keyed } from '../../security/vault.ts'
import type { ArrivedPart } from '../begin/receive-parts.ts'
import { partsOf } from '../run/message-parts.ts'

/** A session's data key, and the blobs under it. */
export type FilePlace = { key: Keyed; files: KeyedBlobs }

/**
 * The files of a message for a copy of it in another session: sealed again under that session's
 * key, so that erasing one session leaves the other whole. Read and stored in frames, never whole
 * in memory; done again, they have the same names. One that is gone stays gone. @throws
 * StoreUnavailable, KeyDestroyed
 */
export const copiedParts = async (
  original: readonly MessagePart[],
  messageId: string,
  from: FilePlace,
  to: FilePlace,
): Promise<MessagePart[]> => {
  const parts: MessagePart[] = []
  for (const [n, part] of original.entries()) {
    const bytes = await from.files.get(part.blob)
    const stored = bytes && (await to.files.put(bytes))
    const { name, ...rest } = part
    parts.push({
      ...rest,
      id: `${messageId}_${n}`,
      // Of what is gone, a name that no file has.
      blob: stored?.name ?? to.key.nameOf(part.blob),
      ...(name === undefined ? {} : { name: to.key.seal(from.key.open(name)) }),
    })
  }
  return parts
}

/**
 * The files of a message as they would arrive with another one; those that are gone are left out.
 */
export const arrivedAgain = async (
  original: readonly MessagePart[],
  { key, files }: FilePlace,
): Promise<ArrivedPart[]> => {
  const arrived: ArrivedPart[] = []
  for (const [n, part] of partsOf({ parts: original }, key, files).entries()) {
    const { ready: _, ...facts } = part
    const bytes = await files.get(original[n]?.blob ?? '')
    if (!bytes) continue
    const hash = createHash('sha256')
    for await (const piece of bytes) hash.update(piece)
    arrived.push({ ...facts, hash: hash.digest('hex') })
  }
  return arrived
}
