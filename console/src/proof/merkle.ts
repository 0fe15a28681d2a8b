import { areEqual, type Bytes, joined } from './bytes.ts'
import { type Subtle, sha256 } from './web-crypto.ts'

/** In bytes. */
export const hashSize = 32

/** The height of a tree of 2^53 leaves: no path is longer. */
const maxHeight = 53

/** SHA-256 over the leaves and nodes of a tree (RFC 6962, section 2.1). */
export const treeHashes = (subtle: Subtle) => ({
  empty: () => sha256(subtle, new Uint8Array()),
  leaf: (bytes: Bytes) => sha256(subtle, joined(Uint8Array.of(0), bytes)),
  node: (left: Bytes, right: Bytes) => sha256(subtle, joined(Uint8Array.of(1), left, right)),
})

export type TreeHashes = ReturnType<typeof treeHashes>

/** The root over hashes of one height. */
export const rootOf = async (hashes: TreeHashes, row: readonly Bytes[]): Promise<Bytes> => {
  const [first, second] = row
  if (!first) return hashes.empty()
  if (!second) return first
  const pairs = Array.from({ length: Math.ceil(row.length / 2) }, async (_, n) => {
    const [left = first, right] = [row[2 * n], row[2 * n + 1]]
    return right ? hashes.node(left, right) : left
  })
  return rootOf(hashes, await Promise.all(pairs))
}

const half = (count: number) => Math.floor(count / 2)

/** Exact for every safe integer, where a logarithm is rounded. */
const isPowerOfTwo = (count: number): boolean =>
  count % 2 === 0 ? isPowerOfTwo(count / 2) : count === 1

type Inclusion = {
  leaf: Bytes
  index: number
  size: number
  proof: readonly Bytes[]
  root: Bytes
}

/** Whether the proof leads from the leaf to the root (RFC 9162, section 2.1.3.2). */
export const isIncluded = async (
  hashes: TreeHashes,
  { leaf, index, size, proof, root }: Inclusion,
): Promise<boolean> => {
  if (index < 0 || index >= size || proof.length > maxHeight) return false
  let [at, last] = [index, size - 1]
  let hash = leaf
  for (const sibling of proof) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      hash = await hashes.node(sibling, hash)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else hash = await hashes.node(hash, sibling)
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && areEqual(hash, root)
}

type Consistency = {
  from: number
  to: number
  before: Bytes
  after: Bytes
  proof: readonly Bytes[]
}

/**
 * Whether the tree of `to` leaves with the root `after` begins with the tree of `from` leaves with
 * the root `before` (RFC 9162, section 2.1.4.2). Every tree begins with the empty one.
 */
export const isConsistent = async (
  hashes: TreeHashes,
  { from, to, before, after, proof }: Consistency,
): Promise<boolean> => {
  if (from < 0 || from > to || proof.length > maxHeight + 1) return false
  if (from === 0) return proof.length === 0 && areEqual(before, await hashes.empty())
  if (from === to) return proof.length === 0 && areEqual(before, after)
  const [first, ...rest] = isPowerOfTwo(from) ? [before, ...proof] : proof
  if (!first) return false
  let [at, last] = [from - 1, to - 1]
  while (at % 2 === 1) [at, last] = [half(at), half(last)]
  let [old, now] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = await hashes.node(hash, old)
      now = await hashes.node(hash, now)
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)]
    } else now = await hashes.node(now, hash)
    ;[at, last] = [half(at), half(last)]
  }
  return last === 0 && areEqual(old, before) && areEqual(now, after)
}
