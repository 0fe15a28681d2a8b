import { type Sealed, sealed } from '../src/domain/sealed.ts'
import { type EventStore, type RecordedEvent, StoreUnavailable } from '../src/ports/event-store.ts'
import { isCredentialsKey, type Vault } from '../src/vault.ts'

/** How much of the log one request looks at; what it asks for may lie further on. */
const scanned = 10_000

export type AskedEvents = {
  organizationId: string
  /** The position to go on after; START (-1) for the beginning. */
  after: number
  limit: number
  stream?: string | undefined
  type?: string | undefined
}

type Uses = { history: EventStore['history']; open: Vault['open'] }

/**
 * What a stored value says: sealed texts in clear, `{erased: true}` once their key is destroyed,
 * `{withheld: true}` for credentials. What looks sealed and does not open stays as it is stored.
 */
const opener = (open: Vault['open']) => {
  const text = async (box: Sealed) => {
    if (isCredentialsKey(box.$sealed)) return { withheld: true }
    try {
      return (await open(box)) ?? { erased: true }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      return box
    }
  }
  const opened = async (value: unknown): Promise<unknown> => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return Promise.all(value.map(opened))
    const box = sealed.strict().safeParse(value)
    if (box.success) return text(box.data)
    const entries = Object.entries(value).map(async ([key, part]) => [key, await opened(part)])
    return Object.fromEntries(await Promise.all(entries))
  }
  return opened
}

/**
 * An organization's events as they are stored, in the log's order. `next_after` is where to go on;
 * `has_more` tells whether there was anything beyond at that time. A page may have fewer events
 * than asked for, or none, and more to come: the work of a request is bounded, not its reach.
 */
export const listEvents =
  ({ history, open }: Uses) =>
  async ({ organizationId, after, limit, stream, type }: AskedEvents) => {
    const opened = opener(open)
    const wanted = (event: RecordedEvent): boolean =>
      event.metadata.organization_id === organizationId &&
      (stream === undefined || event.stream === stream) &&
      (type === undefined || event.type === type)

    const found: RecordedEvent[] = []
    let next_after = after
    let looked = 0
    let has_more = false
    scan: for await (const batch of history(after))
      for (const event of batch) {
        if (found.length === limit || looked === scanned) {
          has_more = true
          break scan
        }
        looked++
        next_after = event.position
        if (wanted(event)) found.push(event)
      }
    const events = found.map(async ({ position, id, stream, revision, type, data, metadata }) => ({
      position,
      id,
      stream,
      revision,
      type,
      data: await opened(data),
      metadata,
    }))
    return { events: await Promise.all(events), next_after, has_more }
  }
export type ListEvents = ReturnType<typeof listEvents>
