import { inclusionProof } from '../src/transparency/proofs.ts'
import { outsideHistory } from './outside-history.ts'
import type { ReadTree } from './read-tree.ts'

/**
 * Proves that an event is in the tree of the first `upTo` events (default: all).
 * @throws invalid_query
 */
export const proveInclusion =
  (readTree: ReadTree) => async (organizationId: string, index: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const size = upTo ?? tree.size
    if (size > tree.size) throw outsideHistory('size', tree.size)
    if (index >= size) throw outsideHistory('index', size)
    const [leaf, root, proof] = await Promise.all([
      tree.nodes(0, index),
      tree.root(size),
      inclusionProof(tree.nodes, index, size),
    ])
    return {
      index,
      size,
      leaf_hash: leaf.toString('base64'),
      root_hash: root.toString('base64'),
      hashes: proof.map((hash) => hash.toString('base64')),
    }
  }
export type ProveInclusion = ReturnType<typeof proveInclusion>
