/** An event as the API lists it. */
export type HistoryEvent = {
  position: number
  id: string
  stream: string
  revision: number
  type: string
  data: unknown
  metadata: Readonly<Record<string, unknown>> | null
}

export type EventGroup = {
  /** Of the first event; unique in a list. */
  id: string
  /** Null: the events belong to no request, such as those of background work. */
  requestId: string | null
  /** The key or user that sent the request. */
  actor: string | null
  at: string | null
  events: HistoryEvent[]
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

const actorOf = (metadata: HistoryEvent['metadata']): string | null => {
  const actor = metadata?.actor
  if (typeof actor !== 'object' || actor === null) return null
  return textOf(Reflect.get(actor, 'user_id')) ?? textOf(Reflect.get(actor, 'key_id'))
}

/** When an event was appended. */
export const timeOf = ({ metadata }: Pick<HistoryEvent, 'metadata'>): string | null =>
  textOf(metadata?.at)

/** Events in their order, those of one request that follow each other together. */
export const groupEvents = (events: readonly HistoryEvent[]): EventGroup[] => {
  const groups: EventGroup[] = []
  for (const event of events) {
    const requestId = textOf(event.metadata?.request_id)
    const last = groups.at(-1)
    if (last && last.requestId === requestId) last.events.push(event)
    else
      groups.push({
        id: event.id,
        requestId,
        actor: actorOf(event.metadata),
        at: timeOf(event),
        events: [event],
      })
  }
  return groups
}

const runFields = ['runId', 'run_id'] as const

/** The run that an event is about. */
export const runOf = ({ data }: Pick<HistoryEvent, 'data'>): string | null => {
  if (typeof data !== 'object' || data === null) return null
  for (const name of runFields) {
    const id = textOf(Reflect.get(data, name))
    if (id !== null) return id
  }
  return null
}
