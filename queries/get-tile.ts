import { refusal } from '../src/domain/refusal.ts'
import { type Tile, tileWidth } from '../src/transparency/tile.ts'
import type { ReadTree } from './read-tree.ts'

/** Hashes of a tile, one behind the other. @throws tile_not_found */
export const getTile =
  (readTree: ReadTree) =>
  async (organizationId: string, level: number, { n, width }: Tile): Promise<Buffer> => {
    const tree = await readTree(organizationId)
    const from = n * tileWidth
    const to = from + width
    if (to > Math.floor(tree.size / tileWidth ** level)) throw refusal('tile_not_found')
    return Buffer.concat(await tree.hashes(level, { from, to }))
  }
export type GetTile = ReturnType<typeof getTile>
