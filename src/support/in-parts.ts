import { yieldToEventLoop } from './yield-to-event-loop.ts'

/** A value, and how much memory it takes, in bytes. */
export type Sized<Value> = { value: Value; bytes: number }

type Make<Item, Value> = (item: Item) => Promise<Sized<Value>>

/** How many are made at once; a part may exceed its size by the last of them. */
const atOnce = 8

/** What is made, and then sent, without letting others' requests come between. */
const turnBytes = 262_144

type Most = { bytes: number; items: number }

/**
 * Makes values from items, in order, in parts of at most so many bytes or items. The next part is
 * made when it is asked for, so that only one is held. A part has at least one value. Large parts
 * are made in many iterations of the event loop.
 */
export async function* inParts<Item, Value>(
  items: readonly Item[],
  make: Make<Item, Value>,
  most: Most,
): AsyncGenerator<Value[]> {
  let part: Value[] = []
  let bytes = 0
  let sinceTurn = 0
  for (let n = 0; n < items.length; n += atOnce) {
    const some = await Promise.all(items.slice(n, n + atOnce).map(make))
    sinceTurn += some.reduce((sum, sized) => sum + sized.bytes, 0)
    if (sinceTurn > turnBytes) {
      sinceTurn = 0
      await yieldToEventLoop()
    }
    for (const sized of some) {
      part.push(sized.value)
      bytes += sized.bytes
      if (bytes < most.bytes && part.length < most.items) continue
      yield part
      part = []
      bytes = 0
    }
  }
  if (part.length > 0) yield part
}

/** The first values, as many as fit; at least one where there are any. */
export const firstPart = async <Item, Value>(
  items: readonly Item[],
  make: Make<Item, Value>,
  bytes: number,
): Promise<Value[]> => {
  for await (const part of inParts(items, make, { bytes, items: Number.POSITIVE_INFINITY }))
    return part
  return []
}
