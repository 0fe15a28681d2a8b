import { type EventIndexView, stretchSize } from '../projections/event-index.ts'
import { START } from '../src/ports/event-store.ts'
import type { View } from '../src/ports/views.ts'
import type { ReadHistory } from './read-history.ts'

const page = 64

type Uses = {
  readHistory: ReadHistory
  eventIndex: View<EventIndexView>
  /** Up to where it is folded. */
  indexed(): number
}

/** The position of an organization's last event up to a time (milliseconds since 1970); else START. */
export const findPosition = ({ readHistory, eventIndex, indexed }: Uses) => {
  const lastIn = async (organizationId: string, time: number, after: number, upTo?: number) => {
    let last = START
    for await (const { events } of readHistory({ organizationId, after, upTo, to: time + 1 }))
      last = events.at(-1)?.position ?? last
    return last
  }

  return async (organizationId: string, time: number): Promise<number> => {
    const reach = indexed()
    const recent = await lastIn(organizationId, time, reach)
    if (recent > START) return recent
    for (let skip = 0; ; skip += page) {
      const { items } = await eventIndex.find({
        index: 'by_organization',
        equals: [organizationId],
        descending: true,
        skip,
        limit: page,
      })
      for (const { stretch, since } of items) {
        if (since > time) continue
        const first = stretch * stretchSize
        const upTo = Math.min(first + stretchSize - 1, reach)
        const found = await lastIn(organizationId, time, first - 1, upTo)
        if (found > START) return found
      }
      if (items.length < page) return START
    }
  }
}
export type FindPosition = ReturnType<typeof findPosition>
