import { type EventStore, type RecordedEvent, StoreDamaged } from '../src/ports/event-store.ts'
import { tileWidth } from '../src/transparency/tile.ts'
import type { ReadTree, Tree } from './read-tree.ts'

type History = EventStore['history']

/** What the leaves of an organization's tree are read with. */
export type LeafUses = { readTree: ReadTree; history: History }

/** The events at these positions, which are in the log's order; what lies between is passed over. */
export async function* eventsAt(
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

/** Where in the log the leaves are, from one index to before another. */
export async function* positionsOf(tree: Tree, from: number, to: number): AsyncGenerator<number> {
  for (let at = from; at < to; at += tileWidth)
    yield* await tree.positions({ from: at, to: Math.min(at + tileWidth, to) })
}
