import type { Find, View } from '../src/ports/views.ts'
import { yieldToEventLoop } from '../src/support/yield-to-event-loop.ts'

/** How many are read in one turn of the event loop. */
const atOnce = 100

/**
 * All documents of an index ordered by position, in many turns of the event loop. Concurrent
 * changes hide none. A document that gets a later position meanwhile is returned again, in its new
 * state.
 */
export async function* readInOrder<Doc extends { position: number }>(
  view: Pick<View<Doc>, 'find'>,
  of: Pick<Find, 'index' | 'equals' | 'orLast'>,
): AsyncGenerator<Doc[]> {
  for (let from = 0; ; await yieldToEventLoop()) {
    // The total is not read.
    const { items } = await view.find({ ...of, from, limit: atOnce, total: atOnce })
    const last = items.at(-1)
    if (last) yield items
    if (!last || items.length < atOnce) return
    from = last.position + 1
  }
}
