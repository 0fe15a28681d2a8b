import { refusal } from '../src/domain/refusal.ts'
import { leafOf } from '../src/transparency/leaf.ts'
import { type Tile, tileWidth } from '../src/transparency/tile.ts'
import type { ReadEvents } from './read-events.ts'
import type { ReadTree } from './read-tree.ts'

type Uses = { readTree: ReadTree; readEvents: ReadEvents }

/** The leaves of a tile, each behind its length in two bytes. @throws tile_not_found */
export const getEntries =
  ({ readTree, readEvents }: Uses) =>
  async (organizationId: string, { n, width }: Tile): Promise<Buffer> => {
    const tree = await readTree(organizationId)
    const from = n * tileWidth
    const to = from + width
    if (to > tree.size) throw refusal('tile_not_found')
    const parts: Buffer[] = []
    for await (const events of readEvents(organizationId, from, to))
      for (const event of events) {
        const leaf = Buffer.from(leafOf(event))
        const length = Buffer.alloc(2)
        length.writeUInt16BE(leaf.length)
        parts.push(length, leaf)
      }
    return Buffer.concat(parts)
  }
export type GetEntries = ReturnType<typeof getEntries>
