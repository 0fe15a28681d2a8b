import {
  type NodesView,
  nodesId,
  nodesPerDocument,
  type TreeView,
} from '../projections/transparency.ts'
import { platformId } from '../src/domain/event.ts'
import type { View } from '../src/ports/views.ts'
import { rootOf, unpackedHashes } from '../src/transparency/merkle.ts'
import { type Nodes, rootOver } from '../src/transparency/proofs.ts'
import { tileWidth } from '../src/transparency/tile.ts'

/** Levels of chunks are this much apart: `nodesPerDocument` is 2 to the power of it. */
const levelHeight = Math.log2(nodesPerDocument)
const levelsPerTile = Math.log2(tileWidth) / levelHeight

type Trees = View<TreeView | NodesView>
type Uses = { transparency: Trees; platformTransparency: Trees }

/**
 * The Merkle tree of an organization, or of the platform, as far as it is folded. It contains the
 * tree of any earlier size. Its cost is the number of documents read, regardless of its size.
 */
export const readTree =
  ({ platformTransparency, ...organizations }: Uses) =>
  async (organizationId: string): Promise<Tree> => {
    const ofPlatform = organizationId === platformId
    const transparency = ofPlatform ? platformTransparency : organizations.transparency
    const tree = await transparency.get(organizationId)
    const { size, edge } = tree && 'size' in tree ? tree : emptyTree
    const chunks = new Map<string, Promise<NodesView>>()

    const read = async (level: number, n: number): Promise<NodesView> => {
      if (n === Math.floor(size / nodesPerDocument ** (level + 1)))
        return { organization_id: organizationId, hashes: edge[level] ?? '' }
      const id = nodesId(organizationId, level, n)
      const chunk = await transparency.get(id)
      if (!chunk || !('hashes' in chunk)) throw new Error(`no nodes are stored under ${id}`)
      return chunk
    }

    const chunk = (level: number, n: number): Promise<NodesView> => {
      const id = nodesId(organizationId, level, n)
      const reading = chunks.get(id) ?? read(level, n)
      chunks.set(id, reading)
      return reading
    }

    /** Something of the chunks of a level, from one place to before another. */
    const slice = async <T>(
      level: number,
      { from, to }: Range,
      of: (chunk: NodesView) => readonly T[],
    ): Promise<T[]> => {
      const first = Math.floor(from / nodesPerDocument)
      const count = Math.ceil(to / nodesPerDocument) - first
      const reading = Array.from({ length: count }, (_, n) => chunk(level, first + n))
      const all = (await Promise.all(reading)).flatMap(of)
      return all.slice(from - first * nodesPerDocument, to - first * nodesPerDocument)
    }
    const hashes = ({ hashes }: NodesView) => unpackedHashes(hashes)

    const nodes: Nodes = async (height, index) => {
      const level = Math.floor(height / levelHeight)
      const count = 2 ** (height - level * levelHeight)
      return rootOf(await slice(level, { from: index * count, to: (index + 1) * count }, hashes))
    }

    return {
      size,
      nodes,
      root: async (of) => (of === 0 ? rootOf([]) : rootOver(nodes, { lo: 0, hi: of })),
      hashes: (level, range) => slice(level * levelsPerTile, range, hashes),
    }
  }

type Range = { from: number; to: number }

const emptyTree = { size: 0, edge: [] }

export type Tree = {
  size: number
  nodes: Nodes
  /** Of the tree of the first so many leaves. */
  root(size: number): Promise<Buffer>
  /** The nodes of a level of tiles. */
  hashes(level: number, range: Range): Promise<Buffer[]>
}

export type ReadTree = ReturnType<typeof readTree>
