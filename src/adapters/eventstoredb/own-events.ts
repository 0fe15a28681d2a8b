import type { RecordedEvent } from '../../ports/event-store.ts'
import { isIn, isOurs, type Resolved, recorded } from './events.ts'
import type { Namespace } from './namespace.ts'

/** An event in our namespace that this application did not write. */
export type ForeignEvent = { stream: string; revision: number; type: string; id: string }

export type OnForeign = (foreign: ForeignEvent) => void

/** How many foreign events are remembered, so that each is reported once. */
const remembered = 10_000

/** Filters our events, and reports each foreign event in our namespace once. */
export const ownEvents = (namespace: Namespace, onForeign: OnForeign = () => undefined) => {
  const reported = new Set<string>()

  const report = ({ event }: Resolved) => {
    if (!event) return
    const { streamId: stream, revision, type, id } = event
    const place = `${revision}@${stream}`
    if (reported.has(place)) return
    const [first] = reported
    if (reported.size >= remembered && first !== undefined) reported.delete(first)
    reported.add(place)
    onForeign({ stream, revision: Number(revision), type, id })
  }

  return (events: readonly Resolved[]): RecordedEvent[] => {
    const recordedEvents: RecordedEvent[] = []
    for (const event of events) {
      if (!isIn(namespace, event)) continue
      if (isOurs(event)) recordedEvents.push(recorded(namespace, event))
      else report(event)
    }
    return recordedEvents
  }
}

export type OwnEvents = ReturnType<typeof ownEvents>
