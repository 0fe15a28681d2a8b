import { refusal } from '../src/domain/refusal.ts'
import { type EventStore, type RecordedEvent, StoreDamaged } from '../src/ports/event-store.ts'
import { leafOf, lineOf } from '../src/transparency/leaf.ts'
import { type Tile, tileWidth } from '../src/transparency/tile.ts'
import type { ReadTree, Tree } from './read-tree.ts'

/** Lines are sent so many characters at a time. */
const sentChars = 65_536

type History = EventStore['history']
type Uses = { readTree: ReadTree; history: History }

/** The events at these positions, which are in the log's order; what lies between is passed over. */
async function* eventsAt(
  history: History,
  positions: AsyncIterable<number>,
): AsyncGenerator<RecordedEvent> {
  const wanted = positions[Symbol.asyncIterator]()
  let next = await wanted.next()
  while (!next.done) {
    const from: number = next.value
    for await (const batch of history(from - 1)) {
      for (const event of batch) {
        if (next.done || event.position !== next.value) continue
        yield event
        next = await wanted.next()
      }
      const last = batch.at(-1)?.position ?? from
      // Where the next batch would hardly reach the next of them, reading begins anew there.
      if (next.done || next.value > 2 * last - from) break
    }
    if (!next.done && next.value === from) throw new StoreDamaged(`nothing at position ${from}`)
  }
}

async function* positionsOf(tree: Tree, from: number, to: number): AsyncGenerator<number> {
  for (let at = from; at < to; at += tileWidth)
    yield* await tree.positions({ from: at, to: Math.min(at + tileWidth, to) })
}

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

/** The leaves of a tile, each behind its length in two bytes. @throws tile_not_found */
export const getEntries =
  ({ readTree, history }: Uses) =>
  async (organizationId: string, { n, width }: Tile): Promise<Buffer> => {
    const tree = await readTree(organizationId)
    const from = n * tileWidth
    const to = from + width
    if (to > tree.size) throw refusal('tile_not_found')
    const parts: Buffer[] = []
    for await (const event of eventsAt(history, positionsOf(tree, from, to))) {
      const leaf = Buffer.from(leafOf(event))
      const length = Buffer.alloc(2)
      length.writeUInt16BE(leaf.length)
      parts.push(length, leaf)
    }
    return Buffer.concat(parts)
  }
export type GetEntries = ReturnType<typeof getEntries>

/**
 * The organization's events from one index to before another as canonical lines, sealed as they are
 * stored; read as they are taken. @throws invalid_query
 */
export const exportLines =
  ({ readTree, history }: Uses) =>
  async (organizationId: string, from: number, upTo?: number) => {
    const tree = await readTree(organizationId)
    const to = upTo ?? tree.size
    if (to > tree.size || from > to)
      throw refusal('invalid_query', { fields: { to: [`The history has ${tree.size} events`] } })
    return (async function* lines() {
      let held = ''
      for await (const event of eventsAt(history, positionsOf(tree, from, to))) {
        held += `${lineOf(event)}\n`
        if (held.length < sentChars) continue
        yield held
        held = ''
      }
      if (held !== '') yield held
    })()
  }
export type ExportLines = ReturnType<typeof exportLines>
