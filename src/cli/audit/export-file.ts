import { z } from 'zod'
import { nodeHash, packedHashes, rootOf, unpackedHashes } from '../../transparency/merkle.ts'
import { tileWidth } from '../../transparency/tile.ts'

/**
 * The lines of an export (docs/contract/transparency-log.md#export-files): a header, then events.
 * Each tile of hashes precedes the first event that it covers, higher levels first. All hashes lead
 * to the checkpoint's root.
 */
const header = z.object({
  reprise_export: z.literal(1),
  organization_id: z.string(),
  /** The verifier key of the checkpoint, as the source gave it. */
  key: z.string(),
  /** The signed note. */
  checkpoint: z.string(),
  /** The last tile of each level of the tree unless it is full, the lowest first; packed. */
  edge: z.array(z.string()),
})

export type Header = z.infer<typeof header>

const tileLine = z.object({
  tile: z.tuple([z.int().min(0), z.int().min(0)]),
  hashes: z.string(),
})

/** The hashes of the `n`th tile of a level. */
export type TileHashes = { level: number; n: number; hashes: readonly Buffer[] }

const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

export const headerLine = (header: Header): string => JSON.stringify(header)

/** Undefined when the line is not a header. */
export const headerOf = (line: string): Header | undefined => header.safeParse(parsed(line)).data

export const tileLineOf = ({ level, n, hashes }: TileHashes): string =>
  JSON.stringify({ tile: [level, n], hashes: packedHashes(hashes) })

/** Undefined when the line is not a tile of hashes. */
export const tileOf = (line: string): TileHashes | undefined => {
  if (!line.startsWith('{"tile":')) return undefined
  const { data } = tileLine.safeParse(parsed(line))
  return data && { level: data.tile[0], n: data.tile[1], hashes: unpackedHashes(data.hashes) }
}

/** How many tiles of a level are full. */
const fullTiles = (size: number, level: number): number =>
  Math.floor(size / tileWidth ** (level + 1))

/** How many nodes the last tile of a level has, unless it is full. */
export const edgeWidths = (size: number): number[] => {
  const widths: number[] = []
  for (let nodes = size; nodes > 0; nodes = Math.floor(nodes / tileWidth))
    widths.push(nodes % tileWidth)
  return widths
}

/** The tiles that come before the first event of a tile of events, the highest first. */
export const tilesBefore = (size: number, chunk: number): { level: number; n: number }[] => {
  const tiles = [{ level: 0, n: chunk }]
  for (let level = 1, n = chunk; fullTiles(size, level) > 0 && n % tileWidth === 0; level++) {
    n /= tileWidth
    if (n < fullTiles(size, level)) tiles.unshift({ level, n })
  }
  return tiles
}

/** The root of a tree from its edge: complete subtrees side by side, ever smaller ones. */
export const rootOfEdge = (edge: readonly (readonly Buffer[])[]): Buffer => {
  const subtrees: Buffer[] = []
  for (const nodes of edge.toReversed())
    for (let at = 0; at < nodes.length; ) {
      const count = 2 ** Math.floor(Math.log2(nodes.length - at))
      subtrees.push(rootOf(nodes.slice(at, at + count)))
      at += count
    }
  return subtrees.length === 0
    ? rootOf([])
    : subtrees.reduceRight((lower, subtree) => nodeHash(subtree, lower))
}

/** The nodes that are known from an edge and the last tile of each level. */
export const knownNodes = (size: number, edge: readonly (readonly Buffer[])[]) => {
  const tiles = new Map<number, TileHashes>()
  const node = (level: number, n: number): Buffer | undefined => {
    const tile = Math.floor(n / tileWidth)
    const last = tiles.get(level)
    if (last?.n === tile) return last.hashes[n % tileWidth]
    return tile === fullTiles(size, level) ? edge[level]?.[n % tileWidth] : undefined
  }
  return {
    /** Whether a tile's hashes lead to the known node above it; then they are known too. */
    add(tile: TileHashes): boolean {
      const { level, n, hashes } = tile
      const partial = n === fullTiles(size, level)
      const sound = partial
        ? packedHashes(hashes) === packedHashes(edge[level] ?? [])
        : hashes.length === tileWidth && node(level + 1, n)?.equals(rootOf(hashes)) === true
      if (sound && !partial) tiles.set(level, tile)
      return sound
    },
    node,
  }
}
