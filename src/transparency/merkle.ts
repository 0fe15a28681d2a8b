import { hash } from 'node:crypto'

/** In bytes. */
export const hashSize = 32

/** The root of the empty tree (RFC 6962, section 2.1). */
const emptyRoot: Buffer = hash('sha256', '', 'buffer')

/** A zero byte and the text; hashing a string takes three times as long as hashing bytes. */
const leafBytes = Buffer.alloc(1 + 3 * 32_768)

/** The hash of a leaf: a zero byte goes first, so that no leaf has the hash of a node. */
export const leafHash = (leaf: string): Buffer => {
  if (leaf.length > 32_768) return hash('sha256', `\0${leaf}`, 'buffer')
  const end = 1 + leafBytes.write(leaf, 1)
  return hash('sha256', leafBytes.subarray(0, end), 'buffer')
}

const pair = Buffer.alloc(1 + 2 * hashSize, 1)

/** The hash of a node: a byte of one, then its two children. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => {
  pair.set(left, 1)
  pair.set(right, 1 + hashSize)
  return hash('sha256', pair, 'buffer')
}

/** The root over all nodes of one height. */
export const rootOf = (nodes: readonly Buffer[]): Buffer => {
  let row = nodes
  while (row.length > 1) {
    const above: Buffer[] = []
    for (let n = 0; n < row.length; n += 2) {
      const [left, right] = [row[n], row[n + 1]]
      if (left) above.push(right ? nodeHash(left, right) : left)
    }
    row = above
  }
  return row[0] ?? emptyRoot
}

/** Concatenated hashes, in base64. */
export const packedHashes = (hashes: readonly Buffer[]): string =>
  Buffer.concat(hashes).toString('base64')

export const hashesIn = (bytes: Buffer): Buffer[] =>
  Array.from({ length: Math.floor(bytes.length / hashSize) }, (_, n) =>
    bytes.subarray(n * hashSize, (n + 1) * hashSize),
  )

export const unpackedHashes = (text: string): Buffer[] => hashesIn(Buffer.from(text, 'base64'))
