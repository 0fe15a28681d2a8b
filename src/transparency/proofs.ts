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

/** What is missing to get from a leaf to the root of the first `size` (section 2.1.1), lowest first. */
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

/** That the tree of the first `from` leaves began the one of the first `to` (section 2.1.2). */
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
