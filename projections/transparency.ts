import { z } from 'zod'
import { ownerOf, platformId } from '../src/domain/event.ts'
import type { DocumentChange } from '../src/ports/views.ts'
import { leafOf } from '../src/transparency/leaf.ts'
import {
  completeRoot,
  type HashText,
  leafHashText,
  packedTexts,
  unpackedTexts,
} from '../src/transparency/merkle.ts'
import { count, text } from './fields.ts'
import type { LogProjection, StoredFold } from './projection.ts'

/** So many nodes of one height are stored together; two such levels are one level of tiles. */
export const nodesPerDocument = 16

/** The right edge of an organization's tree. Its id is the organization's. */
const treeView = z.object({
  organization_id: text,
  /** How many events, which are its leaves, it has. */
  size: count,
  /** By level: the nodes that do not fill a chunk yet, packed. */
  edge: z.array(text),
})
export type TreeView = z.infer<typeof treeView>

/** `nodesPerDocument` nodes of the height `4 * level`; written once. */
const nodesView = z.object({
  organization_id: text,
  hashes: text,
})
export type NodesView = z.infer<typeof nodesView>

export const nodesId = (organizationId: string, level: number, n: number): string =>
  `${organizationId}/${level}/${n}`

const emptyTree = (organization_id: string): TreeView => ({
  organization_id,
  size: 0,
  edge: [],
})

/** The trees of those whose events belong in them. */
const treesOf = (isOwner: (organizationId: string) => boolean): StoredFold<TreeView> => ({
  id(event) {
    const owner = ownerOf(event)
    return isOwner(owner) ? owner : undefined
  },

  fold(tree, events, organization_id) {
    const { size, edge } = tree ?? emptyTree(organization_id)
    /** Of the levels that something is added to: most events reach the lowest alone. */
    const levels: HashText[][] = []
    const chunks: DocumentChange[] = []
    let leaves = size
    for (const event of events) {
      let hash = leafHashText(leafOf(event))
      let count = ++leaves
      for (let level = 0; ; level++) {
        const open = levels[level] ?? unpackedTexts(edge[level] ?? '')
        levels[level] = open
        open.push(hash)
        if (open.length < nodesPerDocument) break
        count /= nodesPerDocument
        const chunk: NodesView = { organization_id, hashes: packedTexts(open) }
        chunks.push({ id: nodesId(organization_id, level, count - 1), document: chunk })
        hash = completeRoot(open)
        levels[level] = []
      }
    }
    const view = {
      organization_id,
      size: leaves,
      edge: [...levels.map(packedTexts), ...edge.slice(levels.length)],
    }
    return { view, others: chunks }
  },
})

/**
 * Events as leaves of Merkle trees (RFC 6962), one tree for each owner, in the order of the log. An
 * event costs two or three hashes, however long the log.
 */
export const treeProjection = (
  name: string,
  isOwner: (organizationId: string) => boolean,
): LogProjection<TreeView | NodesView> => ({
  name,
  pace: 'later',
  schema: z.union([treeView, nodesView]),
  indexes: {},
  stored: treesOf(isOwner),
})

/** Every organization's tree. What belongs to no organization is in none. */
export const transparency = treeProjection('transparency', (owner) => owner !== platformId)
