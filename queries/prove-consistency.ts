import { consistencyProof } from '../src/transparency/proofs.ts'
import { outsideHistory } from './outside-history.ts'
import type { ReadTree } from './read-tree.ts'

/**
 * Proves that the history of `upTo` events (default: all) begins with that of `from` events.
 * @throws invalid_query
 */
export const proveConsistency =
  (readTree: ReadTree) => async (organizationId: string, from: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const to = upTo ?? tree.size
    if (to > tree.size) throw outsideHistory('to', tree.size)
    if (from > to) throw outsideHistory('from', to)
    const [before, after, proof] = await Promise.all([
      tree.root(from),
      tree.root(to),
      consistencyProof(tree.nodes, from, to),
    ])
    return {
      from,
      to,
      from_root_hash: before.toString('base64'),
      to_root_hash: after.toString('base64'),
      hashes: proof.map((hash) => hash.toString('base64')),
    }
  }
export type ProveConsistency = ReturnType<typeof proveConsistency>
