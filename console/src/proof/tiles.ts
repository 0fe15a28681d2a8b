import type { Bytes } from './bytes.ts'
import { rootOf, type TreeHashes } from './merkle.ts'

/** The number of hashes in a full tile (C2SP tlog-tiles), which has a height of 8. */
const tileWidth = 256
const tileHeight = 8

/** The `n`th tile of a level, with the first `width` of its hashes. */
export type Tile = { n: number; width: number }

/** A tile's number and width in a path: `x001/x234/067`, and `.p/<width>` if it is not full. */
export const tilePath = ({ n, width }: Tile): string => {
  const digits = String(n)
  const groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/')
  return width === tileWidth ? path : `${path}.p/${width}`
}

type Tree = {
  size: number
  hashes: TreeHashes
  /** The hashes of a tile. */
  read(level: number, tile: Tile): Promise<Bytes[]>
}

/** Leaves from `lo` on, below `hi`. */
type Range = { lo: number; hi: number }

/** Where RFC 6962 splits a tree: after the largest power of two below its number of leaves. */
const middleOf = ({ lo, hi }: Range): number => {
  let half = 1
  while (half * 2 < hi - lo) half *= 2
  return lo + half
}

/** A tree of a given size, read from tiles; each tile is read once. */
export const tiledTree = ({ size, hashes, read }: Tree) => {
  const tiles = new Map<string, Promise<Bytes[]>>()

  const tileOf = (level: number, n: number): Promise<Bytes[]> => {
    const name = `${level}/${n}`
    const count = Math.floor(size / tileWidth ** level)
    const width = Math.min(tileWidth, count - n * tileWidth)
    const tile = tiles.get(name) ?? read(level, { n, width })
    tiles.set(name, tile)
    return tile
  }

  /** The root over the `2 ** height` leaves from `index * 2 ** height` on. */
  const node = async (height: number, index: number): Promise<Bytes> => {
    const level = Math.floor(height / tileHeight)
    const count = 2 ** (height % tileHeight)
    const tile = await tileOf(level, Math.floor((index * count) / tileWidth))
    const at = (index * count) % tileWidth
    return rootOf(hashes, tile.slice(at, at + count))
  }

  const rootOver = async (range: Range): Promise<Bytes> => {
    const { lo, hi } = range
    const middle = middleOf(range)
    if (middle + middle - lo === hi || hi - lo === 1) {
      const height = Math.round(Math.log2(hi - lo))
      return node(height, lo / (hi - lo))
    }
    const sides = [rootOver({ lo, hi: middle }), rootOver({ lo: middle, hi })] as const
    const [left, right] = await Promise.all(sides)
    return hashes.node(left, right)
  }

  return {
    leafHash: (index: number): Promise<Bytes> => node(0, index),
    /** The hashes beside the path from a leaf to the root, the lowest first. */
    async inclusionProof(index: number): Promise<Bytes[]> {
      const beside: Range[] = []
      for (let range = { lo: 0, hi: size }; range.hi - range.lo > 1; ) {
        const middle = middleOf(range)
        const [left, right] = [
          { ...range, hi: middle },
          { ...range, lo: middle },
        ]
        beside.unshift(index < middle ? right : left)
        range = index < middle ? left : right
      }
      return Promise.all(beside.map(rootOver))
    },
  }
}
