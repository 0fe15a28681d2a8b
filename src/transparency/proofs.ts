import { nodeHash } from './merkle.ts'

/** The hash of the complete subtree over the leaves from `index * 2 ** height` on. */
export type Nodes = (height: number, index: number) => Promise<Buffer>

/** Leaves from `lo` on, below `hi`: a subtree as RFC 6962 splits a tree. */
type Range = { lo: number; hi: number }

/** Where it splits: after the largest power of two below its number of leaves. */
const middle = ({ lo, hi }: Range): number => lo + 2 ** Math.ceil(Math.log2(hi - lo) - 1)

/** The root of the tree over some leaves (RFC 6962, section 2.1: MTH). */
export const rootOver = async (nodes: Nodes, { lo, hi }: Range): Promise<Buffer> => {
  const height = Math.log2(hi - lo)
  if (Number.isInteger(height)) return nodes(height, lo / (hi - lo))
  const at = middle({ lo, hi })
  const sides = [rootOver(nodes, { lo, hi: at }), rootOver(nodes, { lo: at, hi })] as const
  const [left, right] = await Promise.all(sides)
  return nodeHash(left, right)
}

/**
 * The hashes that lead from a leaf to the root of the first `size` leaves (section 2.1.1), lowest
 * first.
 */
export const inclusionProof = (nodes: Nodes, index: number, size: number): Promise<Buffer[]> => {
  const path = async (range: Range): Promise<Buffer[]> => {
    if (range.hi - range.lo === 1) return []
    const at = middle(range)
    const [left, right] = [
      { ...range, hi: at },
      { ...range, lo: at },
    ]
    const [inside, beside] = index < at ? [left, right] : [right, left]
    return [...(await path(inside)), await rootOver(nodes, beside)]
  }
  return path({ lo: 0, hi: size })
}

/** Proves that the tree of `to` leaves begins with the tree of `from` leaves (section 2.1.2). */
export const consistencyProof = async (
  nodes: Nodes,
  from: number,
  to: number,
): Promise<Buffer[]> => {
  const path = async (range: Range, known: boolean): Promise<Buffer[]> => {
    if (from === range.hi) return known ? [] : [await rootOver(nodes, range)]
    const at = middle(range)
    const [left, right] = [
      { ...range, hi: at },
      { ...range, lo: at },
    ]
    return from <= at
      ? [...(await path(left, known)), await rootOver(nodes, right)]
      : [...(await path(right, false)), await rootOver(nodes, left)]
  }
  return from === 0 ? [] : path({ lo: 0, hi: to }, true)
}

/** A consistency proof and the two trees that it is for. */
type Consistency = {
  from: number
  to: number
  before: Buffer
  after: Buffer
  proof: readonly Buffer[]
}

/**
 * Whether the proof holds: the tree of `to` leaves begins with the tree of `from` leaves (RFC 9162,
 * 2.1.4.2).
 */
export const isConsistent = ({ from, to, before, after, proof }: Consistency): boolean => {
  if (from === 0 || from >= to)
    return proof.length === 0 && from <= to && (from === 0 || before.equals(after))
  const [first, ...rest] = Number.isInteger(Math.log2(from)) ? [before, ...proof] : proof
  if (!first) return false
  let [at, last] = [from - 1, to - 1]
  const up = () => {
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  while (at % 2 === 1) up()
  let [old, now] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (at % 2 === 1 || at === last) {
      old = nodeHash(hash, old)
      now = nodeHash(hash, now)
      while (at % 2 === 0 && at !== 0) up()
    } else now = nodeHash(now, hash)
    up()
  }
  return last === 0 && old.equals(before) && now.equals(after)
}
