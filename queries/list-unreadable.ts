import type { UnreadableEventView } from '../projections/unreadable-events.ts'
import type { View } from '../src/ports/views.ts'

/**
 * The stored events that were set aside as they cannot be read, the first of them, and how many
 * there are.
 */
export const listUnreadable =
  ({ unreadableEvents }: { unreadableEvents: Pick<View<UnreadableEventView>, 'find'> }) =>
  async (limit: number) => {
    const { items, total } = await unreadableEvents.find({
      index: 'unreadable',
      equals: [true],
      limit,
    })
    const events = items.map(({ position, stream, revision, type, reason }) => ({
      position,
      stream,
      revision,
      type,
      reason,
    }))
    return { events, total }
  }
export type ListUnreadable = ReturnType<typeof listUnreadable>
