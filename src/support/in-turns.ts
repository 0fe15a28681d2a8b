import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** How many are handled in one turn of the event loop. */
const atOnce = 256

/** Items in lots, each to be handled in a turn of the event loop of its own. */
export async function* inTurns<Item>(items: Iterable<Item>): AsyncGenerator<Item[]> {
  let lot: Item[] = []
  for (const item of items) {
    lot.push(item)
    if (lot.length < atOnce) continue
    yield lot
    lot = []
    await yieldToEventLoop()
  }
  if (lot.length > 0) yield lot
}

/** Two sorted lists as one. */
function* merged(some: readonly string[], others: readonly string[]): Generator<string> {
  let n = 0
  for (const text of some) {
    for (let other = others[n]; other !== undefined && other < text; other = others[n]) {
      yield other
      n++
    }
    yield text
  }
  yield* others.slice(n)
}

/** As `toSorted`, in many turns of the event loop. */
export const sortedInTurns = async (texts: Iterable<string>): Promise<string[]> => {
  let sorted: string[][] = []
  for await (const lot of inTurns(texts)) sorted.push(lot.sort())
  while (sorted.length > 1) {
    const longer: string[][] = []
    for (let n = 0; n < sorted.length; n += 2) {
      const list: string[] = []
      for await (const lot of inTurns(merged(sorted[n] ?? [], sorted[n + 1] ?? [])))
        list.push(...lot)
      longer.push(list)
    }
    sorted = longer
  }
  return sorted[0] ?? []
}
