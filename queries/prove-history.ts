import { refusal } from '../src/domain/refusal.ts'
import { consistencyProof, inclusionProof } from '../src/transparency/proofs.ts'
import type { ReadTree } from './read-tree.ts'

const outside = (field: string, size: number) =>
  refusal('invalid_query', { fields: { [field]: [`The history has ${size} events`] } })

const inBase64 = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('base64'))

/** That an event is in the tree of the first `upTo`, or of all. @throws invalid_query */
export const proveInclusion =
  (readTree: ReadTree) => async (organizationId: string, index: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const size = upTo ?? tree.size
    if (size > tree.size) throw outside('size', tree.size)
    if (index >= size) throw outside('index', size)
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
      hashes: inBase64(proof),
    }
  }
export type ProveInclusion = ReturnType<typeof proveInclusion>

/** That the history of `from` events is how the one of `upTo`, or of all, began. @throws invalid_query */
export const proveConsistency =
  (readTree: ReadTree) => async (organizationId: string, from: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const to = upTo ?? tree.size
    if (to > tree.size) throw outside('to', tree.size)
    if (from > to) throw outside('from', to)
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
      hashes: inBase64(proof),
    }
  }
export type ProveConsistency = ReturnType<typeof proveConsistency>
