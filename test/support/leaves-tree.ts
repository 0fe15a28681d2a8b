import { leafHash, nodeHash } from '../../src/transparency/merkle.ts'
import type { Nodes } from '../../src/transparency/proofs.ts'
import { rootOfLeaves } from './tree-verifier.ts'

/** The tree over some leaves, all of it in memory. */
export const leavesTree = (leaves: readonly string[]) => {
  const rows = [leaves.map(leafHash)]
  for (let row = rows[0] ?? []; row.length > 1; rows.push(row))
    row = Array.from({ length: row.length >> 1 }, (_, n) =>
      nodeHash(row[2 * n] ?? Buffer.of(), row[2 * n + 1] ?? Buffer.of()),
    )
  const nodes: Nodes = async (height, index) => {
    const node = rows[height]?.[index]
    if (!node) throw new Error(`no node ${index} of the height ${height}`)
    return node
  }
  return { nodes, root: (size: number) => rootOfLeaves(leaves.slice(0, size)) }
}
