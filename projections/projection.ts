import type { z } from 'zod'
import type { EventTable } from '../src/domain/aggregate.ts'
import type { Recorded, Seen } from '../src/domain/event.ts'
import type { RecordedEvent } from '../src/ports/event-store.ts'
import type { Document, DocumentChange, Scalar, ViewSpec } from '../src/ports/views.ts'

/**
 * A handler gets what the `events` of its own projection have parsed. It is typed as a method, so
 * that a projection of certain events is also one of any events, for what runs them all.
 */
type Handler<Given extends readonly unknown[], Result> = { of(...given: Given): Result }['of']

/** A read model as an organization's auditors and analysts see it, in states and feeds. */
type PublicForm<View> = {
  /** Of a document as it is shown, its sealed texts opened. */
  schema: z.ZodType
  /** Leaves out what is never shown and adds what is worked out; absent: shown as it is stored. */
  document?(view: View): Document
}

/**
 * When a read model is folded. `prompt`: at once, a command's answer waits for it. `later`: in
 * large batches, and at once when somebody asks for it.
 */
export type Pace = 'prompt' | 'later'

type Paced = {
  /** Absent: prompt. */
  pace?: Pace
}

type Schema<View> = {
  /** Of a stored document. Gives its type; documents are not parsed when they are read. */
  schema: z.ZodType<View>
}

/**
 * Documents with totals of others in their read model. The read model's `id` returns them beside
 * the documents of an event; no event is folded into them.
 */
export type Totals<View> = {
  isTotal(id: string): boolean
  /** Id of the total that includes a document. */
  idOf(view: View): string
  /** The total after one of its documents changed; undefined: nothing to add. */
  moved(total: View | undefined, from: View | undefined, to: View | undefined): View | undefined
}

type Source<View extends Document, Table extends EventTable> = ViewSpec &
  Paced &
  Schema<View> & {
    /** Only where each document belongs to one organization, named in its `organization_id`. */
    shown?: PublicForm<View>
    /** The streams it reads, by category. An event in them that `events` does not know stops it. */
    categories: readonly string[]
    events: Table
    /** The document (or documents) that an event is about; an empty list: none. */
    id(event: Seen<Table>): string | readonly string[]
    /**
     * Ids of all documents of the event's stream, which an unreadable event marks. Absent: `id`
     * finds the document by the stream.
     */
    ofStream?(event: Recorded): IndexValues
    totals?: Totals<View>
    /** What remains of a document that an event of `clears` finds; absent: nothing. */
    remainder?(view: View): View
  }

type IndexValues = { index: string; equals: readonly Scalar[] }

/** For a document that is not there yet. */
type Creates<View, Table extends EventTable, Type extends keyof Table> = {
  [T in Type]: Handler<[event: Seen<Table, T>, id: string], View>
}
/** For a document that is there. */
type Changes<View, Table extends EventTable, Type extends keyof Table> = {
  [T in Type]: Handler<[view: View, event: Seen<Table, T>, id: string], View>
}
/** Events that remove, or reduce, every document with these values in an index. */
type Clears<Table extends EventTable, Type extends keyof Table> = {
  [T in Type]: Handler<[event: Seen<Table, T>], IndexValues>
}

/** One read model: which event creates a view, which change it, which remove it. */
export type Projection<View extends Document, Table extends EventTable> = Source<View, Table> & {
  creates: Partial<Creates<View, Table, keyof Table>>
  changes: Partial<Changes<View, Table, keyof Table>>
  removes?: readonly (keyof Table & string)[]
  clears?: Partial<Clears<Table, keyof Table>>
  ignores: { readonly [T in keyof Table]?: true }
}

/**
 * A projection that names each event of its table. An event that it forgets is a type error, and
 * so is one that it both handles and ignores. The empty call is for the compiler: it infers the
 * names only where the types of documents and events are given.
 */
export const projection =
  <View extends Document, Table extends EventTable>() =>
  <
    Created extends keyof Table = never,
    Changed extends keyof Table = never,
    Removed extends keyof Table & string = never,
    Cleared extends keyof Table = never,
  >(
    definition: Source<View, Table> & {
      creates: Creates<View, Table, Created>
      changes: Changes<View, Table, Changed>
      removes?: readonly Removed[] & readonly Exclude<Removed, Created | Changed>[]
      clears?: Clears<Table, Cleared>
      ignores: { readonly [T in Exclude<keyof Table, Created | Changed | Removed | Cleared>]: true }
    },
  ) =>
    definition

/** Those events of a batch that go into one document are folded together. */
export type StoredFold<View> = {
  /** Events of these types are parsed first; unreadable ones are left out. */
  events?: EventTable
  /** Those of `events` that change no document. */
  ignores?: Readonly<Record<string, true>>
  /** The document that an event goes into, if any. */
  id(event: RecordedEvent): string | undefined
  /**
   * The document after these events, and other documents that they leave. Those are written before
   * it, and are not given to a later fold.
   */
  fold(
    view: View | undefined,
    events: readonly RecordedEvent[],
    id: string,
  ): { view: View; others: readonly DocumentChange[] }
}

/** A read model of the events themselves, of every kind, as they are stored and not parsed. */
export type LogProjection<View> = ViewSpec & Paced & Schema<View> & { stored: StoredFold<View> }

/** A projection of whatever events, for what runs them all. */
export type EventProjection = Projection<Document, EventTable>

export type AnyProjection = EventProjection | LogProjection<Document>

/** A read model that is shown. */
export type ReadModel = EventProjection & { shown: PublicForm<Document> }

/** A view less some of its fields. */
export const without = <View extends Document, Field extends keyof View>(
  view: View,
  fields: Readonly<Record<Field, true>>,
): Omit<View, Field> =>
  Object.fromEntries(Object.entries(view).filter(([name]) => !Object.hasOwn(fields, name))) as Omit<
    View,
    Field
  >

/** A document as it is shown; sealed texts are opened after. */
export const publicDocument = (model: ReadModel, document: Document): Document =>
  model.shown.document ? model.shown.document(document) : document

/** The part of a stream name after its category and organization: the aggregate's own id. */
export const idIn = (stream: string): string => stream.slice(stream.indexOf('_') + 1)

/** The same for a stream of the platform, which has no organization: `<category>-<id>`. */
export const platformIdIn = (stream: string): string => stream.slice(stream.indexOf('-') + 1)

/** One document after one event; undefined when it is not, or no longer, there. */
export const projected = (
  { creates, changes, removes }: EventProjection,
  view: Document | undefined,
  event: Seen<EventTable>,
  id: string,
): Document | undefined => {
  if (removes?.includes(event.type)) return undefined
  return view ? (changes[event.type]?.(view, event, id) ?? view) : creates[event.type]?.(event, id)
}
