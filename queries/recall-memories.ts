import type { MemoryView } from '../projections/memories.ts'
import { memoryLimit } from '../src/domain/memory/memory.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'
import { bm25 } from '../src/support/bm25.ts'
import { yieldToEventLoop } from '../src/support/yield-to-event-loop.ts'

type Uses = { memories: View<MemoryView>; open: Vault['open'] }

export type Recall = { organizationId: string; userId: string; query: string; limit: number }

/** How many memories, of 2,000 characters at most, are indexed in a turn of the event loop. */
const atOnce = 4

/**
 * What is remembered of a user in one organization: what suits the query best, then the newest, so
 * that a query in other words than the memory's still finds it. Nothing once it is erased.
 */
export const recallMemories =
  ({ memories, open }: Uses) =>
  async ({ organizationId, userId, query, limit }: Recall): Promise<string[]> => {
    const { items } = await memories.find({
      index: 'by_user',
      equals: [organizationId, userId],
      descending: true,
      limit: memoryLimit,
    })
    const opened = await Promise.all(items.map(({ text }) => open(text)))
    const texts = opened.filter((text) => text !== undefined)
    const index = bm25()
    for (const [n, text] of texts.entries()) {
      index.add(text)
      if (n % atOnce === atOnce - 1) await yieldToEventLoop()
    }
    const best = index.search(query, limit).flatMap(({ document }) => texts[document] ?? [])
    return [...new Set([...best, ...texts])].slice(0, limit)
  }
export type RecallMemories = ReturnType<typeof recallMemories>
