import { type Metadata, type Position, position, type Recorded } from '../domain/event.ts'

/** `id` is a UUID; the same id appended again to the same place is stored once. */
export type NewEvent = {
  id: string
  type: string
  data: unknown
  metadata: Metadata
  /**
   * Its data is what its schema gives, as it is where it was decided, and is not changed any more.
   */
  decided?: true
}

/** An event as it is stored: its type and data not parsed yet. */
export type RecordedEvent = Recorded & {
  type: string
  data: unknown
  /** Appended so by this process, and not read from the disk: its data needs no check. */
  decided?: true
}

/** The position before the first event. */
export const START = position.parse(-1)

/** `-1`: the stream must not exist. `n`: its last event has revision n. `any`: no check. */
export type ExpectedRevision = number | 'any'

/** Where the last event of an append went. */
export type Appended = { revision: number; position: Position }

/** Another writer was faster. `actual` is the stream's last revision, -1 when it has no events. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict'
  readonly stream: string
  readonly actual: number
  constructor(stream: string, expected: ExpectedRevision, actual: number) {
    super(`${stream} is at revision ${actual}, not ${expected}`)
    this.stream = stream
    this.actual = actual
  }
}

/**
 * The store cannot be reached or written right now (server down, disk full); nothing was stored.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable'
}

/** One append over `MAX_APPEND_BYTES` in all. Nothing was stored. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge'
}

/** EventStoreDB's limit on one append; documents never belong in events. */
export const MAX_APPEND_BYTES = 1_048_576

/** What is on disk is not what was written: said, never skipped or truncated. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged'
  /** The event that cannot be read, where it is known. */
  readonly position: Position | undefined
  constructor(message: string, options: ErrorOptions & { position?: Position } = {}) {
    super(message, options)
    this.position = options.position
  }
}

/** Where an event is stored. */
type EventPlace = Pick<RecordedEvent, 'stream' | 'revision' | 'position' | 'type'>

export const placeText = ({ stream, revision, position, type }: EventPlace): string =>
  `${type} (${stream} at revision ${revision}, position ${position})`

/**
 * A stored event violates a schema version that this release knows, or has unreadable metadata. The
 * message and the reason say where and why, without the data.
 */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent'
  readonly place: EventPlace
  readonly reason: string
  constructor({ stream, revision, position, type }: EventPlace, reason: string) {
    super(`unreadable event ${placeText({ stream, revision, position, type })}: ${reason}`)
    this.place = { stream, revision, position, type }
    this.reason = reason
  }
}

/** A folder is in a format of another release. Nothing in it was touched. */
export class StoreFormat extends Error {
  override readonly name = 'StoreFormat'
  constructor(path: string, format: number, read: number) {
    const writer = format > read ? 'a later' : 'an earlier'
    super(
      `${path} is in format ${format}, written by ${writer} release; this one reads format ${read}. ` +
        'Nothing is damaged: start the release that wrote it, or use another DATA_DIR',
    )
  }
}

/**
 * What a feed has come to. `position` is that of the last event, or further on: a store that others
 * write to as well passes over their events.
 */
export type LogBatch = { events: readonly RecordedEvent[]; position: Position }

/** A stretch of the log, in what its store counts. */
export type Distance = { amount: number; unit: 'events' | 'bytes' }

/** The reading side of an event store. */
export type EventReads = Omit<EventStore, 'append' | 'close'>

export type EventStore = {
  /**
   * Appends atomically and durably: on disk when it resolves. An empty list is refused (TypeError).
   * Idempotent by event id as EventStoreDB is: the same ids again with the same expectation, also
   * after later appends, also with `any`, answer the first outcome and store nothing.
   * @throws RevisionConflict, StoreUnavailable, AppendTooLarge
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<Appended>
  /**
   * The events of one stream from a revision on, in batches, at most so many; none when it does not
   * exist.
   */
  read(stream: string, from?: number, most?: number): AsyncIterable<readonly RecordedEvent[]>
  /**
   * The global order after one position and up to another (the head at the time of the call, unless
   * that comes first), in batches. `after` is a position that this store gave, or START.
   */
  history(after: Position, upTo?: Position): AsyncIterable<readonly RecordedEvent[]>
  /**
   * The events at these positions, which increase, in batches. What lies between is not given.
   * @throws StoreDamaged where there is no event
   */
  at(positions: AsyncIterable<readonly Position[]>): AsyncIterable<readonly RecordedEvent[]>
  /**
   * Everything after a position, then everything new, in batches, in order, no gap, no double.
   * `after` is a position that this store gave, or START. Pulled: a reader that is slow holds
   * nothing but its own place. Ends when the signal aborts or the store closes. An adapter over a
   * network resubscribes by itself, with back-off.
   */
  feed(after: Position, signal?: AbortSignal): AsyncIterable<LogBatch>
  /** How far it is from one position to another; 0 where the second comes first. */
  distance(from: Position, to: Position): Distance
  /** The position of the last event; START when there is none. */
  head(): Promise<Position>
  /**
   * The furthest that a feed can have come: `head`, or what others wrote to the same store after
   * it.
   */
  end(): Promise<Position>
  close(): Promise<void>
}
