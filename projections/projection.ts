import type { EventTable } from '../src/domain/aggregate.ts'
import type { Seen } from '../src/domain/event.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import type { DocumentChange, Scalar, ViewSpec } from '../src/ports/views.ts'

/** One read model: which event creates a view, which change it, which remove it. */
export type Projection<View, Table extends EventTable> = ViewSpec & {
  /** The streams it reads, by category. An event in them that `events` does not know stops it. */
  categories: readonly string[]
  events: Table
  /** The document (or documents) that an event is about; an empty list: none. */
  id(event: Seen<Table>): string | readonly string[]
  /** For a document that is not there yet. */
  creates: { [T in keyof Table]?: (event: Seen<Table, T>, id: string) => View }
  /** For a document that is there. */
  changes: { [T in keyof Table]?: (view: View, event: Seen<Table, T>, id: string) => View }
  removes?: readonly (keyof Table & string)[]
  /** Events that remove every document with these values in an index. */
  clears?: {
    [T in keyof Table]?: (event: Seen<Table, T>) => { index: string; equals: readonly Scalar[] }
  }
}

/**
 * A read model of the events themselves, of every kind, as they are stored and not parsed: those of
 * a batch that go into one document are folded together.
 */
export type StoredFold<View> = {
  /** The document that an event goes into, if any. */
  id(event: RecordedEvent): string | undefined
  /** The document after these events, and what other documents they leave: written, never read. */
  fold(
    view: View | undefined,
    events: readonly RecordedEvent[],
    id: string,
  ): { view: View; others: readonly DocumentChange[] }
}

// biome-ignore lint/suspicious/noExplicitAny: handlers of many tables have no common event type
type Handler = (...given: any[]) => any

/** Any projection, for what runs them all. */
export type AnyProjection = Omit<
  Projection<never, EventTable>,
  'id' | 'creates' | 'changes' | 'removes' | 'clears'
> & {
  id: Handler
  creates: { [type: string]: Handler | undefined }
  changes: { [type: string]: Handler | undefined }
  removes?: readonly string[]
  clears?: { [type: string]: Handler | undefined }
  /** In place of all of these. */
  stored?: { id: StoredFold<never>['id']; fold: Handler }
}

/** The part of a stream name after its category and organization: the aggregate's own id. */
export const idIn = (stream: string): string => stream.slice(stream.indexOf('_') + 1)

/** One document after one event; undefined when it is not, or no longer, there. */
export const projected = <View, Table extends EventTable>(
  { creates, changes, removes }: Projection<View, Table>,
  view: View | undefined,
  event: Seen<Table>,
  id: string,
): View | undefined => {
  if (removes?.includes(event.type)) return undefined
  return view ? (changes[event.type]?.(view, event, id) ?? view) : creates[event.type]?.(event, id)
}
