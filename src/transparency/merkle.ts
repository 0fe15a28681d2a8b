import { hash } from 'node:crypto'

/** In bytes. */
export const hashSize = 32

/** The root of the empty tree (RFC 6962, section 2.1). */
const emptyRoot: Buffer = hash('sha256', '', 'buffer')

/** A zero byte and the text; hashing a string takes three times as long as hashing bytes. */
const leafBytes = Buffer.alloc(1 + 3 * 32_768)

/** A leaf's bytes after a zero byte, until the next call: no leaf has the hash of a node. */
const framed = (leaf: string): Uint8Array => {
  if (leaf.length > 32_768) return Buffer.from(`\0${leaf}`)
  return leafBytes.subarray(0, 1 + leafBytes.write(leaf, 1))
}

export const leafHash = (leaf: string): Buffer => hash('sha256', framed(leaf), 'buffer')

const pair = Buffer.alloc(1 + 2 * hashSize, 1)

/** The hash of a node: a byte of one, then its two children. */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Buffer => {
  pair.set(left, 1)
  pair.set(right, 1 + hashSize)
  return hash('sha256', pair, 'buffer')
}

/**
 * A hash as a string of 32 characters, one for each byte: it takes half the time of a buffer, and
 * leaves nothing to the garbage collector.
 */
export type HashText = string

export const leafHashText = (leaf: string): HashText => hash('sha256', framed(leaf), 'binary')

/** Written here: asking node to write a text of 32 characters takes longer. */
const nodeHashText = (left: HashText, right: HashText): HashText => {
  for (let n = 0; n < hashSize; n++) {
    pair[1 + n] = left.charCodeAt(n)
    pair[1 + hashSize + n] = right.charCodeAt(n)
  }
  return hash('sha256', pair, 'binary')
}

/** The root of a complete tree: over a power of two of nodes of one height. */
export const completeRoot = (nodes: readonly HashText[]): HashText => {
  const row = [...nodes]
  for (let { length } = row; length > 1; length /= 2)
    for (let n = 0; n < length; n += 2) row[n / 2] = nodeHashText(row[n] ?? '', row[n + 1] ?? '')
  return row[0] ?? ''
}

/** Concatenated hashes, in base64, and back. */
export const packedTexts = (hashes: readonly HashText[]): string =>
  Buffer.from(hashes.join(''), 'latin1').toString('base64')

export const unpackedTexts = (packed: string): HashText[] => {
  const text = Buffer.from(packed, 'base64').toString('latin1')
  return Array.from({ length: text.length / hashSize }, (_, n) =>
    text.slice(n * hashSize, (n + 1) * hashSize),
  )
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
