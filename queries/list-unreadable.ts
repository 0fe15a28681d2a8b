import type { UnreadableEventView } from '../projections/unreadable-events.ts'
import type { View } from '../src/ports/views.ts'

/** An event that was set aside, as it is shown. */
export const unreadableAnswer = (event: UnreadableEventView) => {
  const { position, stream, revision, type, reason } = event
  return { position, stream, revision, type, reason }
}

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
    return { events: items.map(unreadableAnswer), total }
  }
export type ListUnreadable = ReturnType<typeof listUnreadable>
