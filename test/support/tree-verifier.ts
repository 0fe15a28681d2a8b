import { createHash } from 'node:crypto'

/**
 * What an auditor computes who has read RFC 9162 and knows nothing of this program: the recursive
 * definition of the tree, and the two ways of checking a proof, word by word.
 */
const sha256 = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

const leafOf = (text: string) => sha256(Buffer.of(0), Buffer.from(text))
const above = (left: Uint8Array, right: Uint8Array) => sha256(Buffer.of(1), left, right)

/** Section 2.1.1: MTH. */
export const rootOfLeaves = (leaves: readonly string[]): Buffer => {
  const [only] = leaves
  if (only === undefined) return sha256()
  if (leaves.length === 1) return leafOf(only)
  let k = 1
  while (k * 2 < leaves.length) k *= 2
  return above(rootOfLeaves(leaves.slice(0, k)), rootOfLeaves(leaves.slice(k)))
}

type Inclusion = {
  leaf: Buffer
  index: number
  size: number
  proof: readonly Buffer[]
  root: Buffer
}

/** Section 2.1.3.2. */
export const includedIn = ({ leaf, index, size, proof, root }: Inclusion): boolean => {
  if (index >= size) return false
  let fn = BigInt(index)
  let sn = BigInt(size) - 1n
  let r = leaf
  for (const p of proof) {
    if (sn === 0n) return false
    if (fn % 2n === 1n || fn === sn) {
      r = above(p, r)
      if (fn % 2n === 0n)
        do {
          fn >>= 1n
          sn >>= 1n
        } while (fn % 2n === 0n && fn !== 0n)
    } else r = above(r, p)
    fn >>= 1n
    sn >>= 1n
  }
  return sn === 0n && r.equals(root)
}

type Consistency = {
  from: number
  to: number
  proof: readonly Buffer[]
  before: Buffer
  after: Buffer
}

/** Section 2.1.4.2; a tree of no leaves is how every tree began. */
export const consistentWith = ({ from, to, proof, before, after }: Consistency): boolean => {
  if (from === 0) return proof.length === 0
  if (from === to) return proof.length === 0 && before.equals(after)
  const isPerfect = Number.isInteger(Math.log2(from))
  const [first, ...rest] = isPerfect ? [before, ...proof] : proof
  if (!first) return false
  let fn = BigInt(from) - 1n
  let sn = BigInt(to) - 1n
  while (fn % 2n === 1n) {
    fn >>= 1n
    sn >>= 1n
  }
  let [fr, sr] = [first, first]
  for (const c of rest) {
    if (sn === 0n) return false
    if (fn % 2n === 1n || fn === sn) {
      fr = above(c, fr)
      sr = above(c, sr)
      if (fn % 2n === 0n)
        do {
          fn >>= 1n
          sn >>= 1n
        } while (fn % 2n === 0n && fn !== 0n)
    } else sr = above(sr, c)
    fn >>= 1n
    sn >>= 1n
  }
  return sn === 0n && fr.equals(before) && sr.equals(after)
}
