import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { type Blobs, BlobTooLarge } from '../ports/blobs.ts'
import { decrypted, encrypted, keyBytes } from './cipher.ts'
import { SealBroken, type Vault } from './vault.ts'

/** How many bytes are sealed together: at most two frames too many are opened for a range. */
export const frameBytes = 65_536
/** What sealing adds to a frame: nonce and tag. */
const overhead = 28
const sealedFrame = frameBytes + overhead
const mark = Buffer.from('RPSEAL01')
/** Mark, and the sealed key and size of the blob. */
const trailerBytes = mark.length + keyBytes + 8 + overhead

/** Blobs under one data key. Sizes and ranges are those of the bytes that were given. */
export type KeyedBlobs = Blobs & {
  /** The name that bytes with this SHA-256 have here. @throws KeyDestroyed */
  nameOf(sha256: string): Promise<string>
}

export type SealedBlobs = { under(keyName: string): KeyedBlobs }

/** A blob that is there: its size as it was given, and its own key if it is sealed. */
type StoredBlob = { size: number; key?: Buffer }

/** The bytes in pieces of `size`, the last one shorter. Each is overwritten by the next. */
async function* inPieces(bytes: AsyncIterable<Uint8Array>, size: number) {
  const piece = Buffer.alloc(size)
  let filled = 0
  for await (const part of bytes)
    for (let at = 0; at < part.length; ) {
      const chunk = part.subarray(at, at + size - filled)
      piece.set(chunk, filled)
      filled += chunk.length
      at += chunk.length
      if (filled < size) continue
      yield piece
      filled = 0
    }
  if (filled > 0) yield piece.subarray(0, filled)
}

const sealedSize = (size: number): number => size + Math.ceil(size / frameBytes) * overhead

/**
 * Blobs sealed under data keys, in frames, so that ranges are read without the whole and nothing is
 * held in memory (docs/decisions/0017-sealed-blobs.md). Without its data key a blob is absent.
 * A blob that was stored before blobs were sealed is read as it is, if its bytes fit its name.
 */
export const sealedBlobs = ({
  blobs,
  vault,
}: {
  blobs: Blobs
  vault: Pick<Vault, 'keyed' | 'found'>
}): SealedBlobs => ({
  under(keyName) {
    const purposeOf = (name: string): string => `blob ${name}`

    const locate = async (name: string): Promise<StoredBlob | undefined> => {
      const stored = await blobs.size(name)
      if (stored === undefined) return undefined
      if (stored < trailerBytes) return { size: stored }
      const range = { start: stored - trailerBytes, end: stored - 1 }
      const read = await blobs.get(name, range)
      if (!read) return undefined
      const trailer = Buffer.concat(await read.toArray())
      if (!trailer.subarray(0, mark.length).equals(mark)) return { size: stored }
      const keyed = await vault.found(keyName)
      if (!keyed) return undefined
      const opened = keyed.openBytes(trailer.subarray(mark.length), purposeOf(name))
      const size = Number(opened.readBigUInt64BE(keyBytes))
      if (sealedSize(size) + trailerBytes !== stored) throw new SealBroken(keyName)
      return { size, key: opened.subarray(0, keyBytes) }
    }

    /** A blob that was never sealed. @throws SealBroken when it is not what its name says */
    const unsealed = async (name: string, range?: { start: number; end: number }) => {
      const hash = createHash('sha256')
      for await (const part of (await blobs.get(name)) ?? []) hash.update(part)
      if (hash.digest('hex') !== name) throw new SealBroken(keyName)
      return blobs.get(name, range)
    }

    async function* opened(stored: Readable, key: Buffer, start: number, end: number) {
      let number = Math.floor(start / frameBytes)
      for await (const box of inPieces(stored, sealedFrame)) {
        const plain = decrypted(key, String(number), box)
        if (!plain) throw new SealBroken(keyName)
        const before = number * frameBytes
        yield plain.subarray(Math.max(0, start - before), end - before + 1)
        number++
      }
      if (number !== Math.floor(end / frameBytes) + 1) throw new SealBroken(keyName)
    }

    return {
      async nameOf(sha256) {
        return (await vault.keyed(keyName)).nameOf(sha256)
      },

      async put(bytes, maxBytes = Number.POSITIVE_INFINITY) {
        const keyed = await vault.keyed(keyName)
        const key = randomBytes(keyBytes)
        const hash = createHash('sha256')
        let size = 0
        let name = ''

        async function* counted() {
          for await (const part of bytes) {
            size += part.length
            if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
            hash.update(part)
            yield part
          }
        }

        async function* sealed() {
          let number = 0
          for await (const plain of inPieces(counted(), frameBytes))
            yield encrypted(key, String(number++), plain)
          name = keyed.nameOf(hash.digest('hex'))
          const inside = Buffer.alloc(keyBytes + 8)
          inside.set(key)
          inside.writeBigUInt64BE(BigInt(size), keyBytes)
          yield Buffer.concat([mark, keyed.sealBytes(inside, purposeOf(name))])
        }

        await blobs.put(sealed(), undefined, () => name)
        return { name, size }
      },

      async size(name) {
        return (await locate(name))?.size
      },

      async get(name, range) {
        const blob = await locate(name)
        if (!blob) return undefined
        const { size, key } = blob
        if (!key) return unsealed(name, range)
        const start = range?.start ?? 0
        const end = Math.min(range?.end ?? size, size - 1)
        if (start > end) return Readable.from([], { objectMode: false })
        const stored = await blobs.get(name, {
          start: Math.floor(start / frameBytes) * sealedFrame,
          end: Math.min((Math.floor(end / frameBytes) + 1) * sealedFrame, sealedSize(size)) - 1,
        })
        if (!stored) return undefined
        const plain = Readable.from(opened(stored, key, start, end), { objectMode: false })
        return plain.once('close', () => stored.destroy())
      },

      remove: blobs.remove,
    }
  },
})
