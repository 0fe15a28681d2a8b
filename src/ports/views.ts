import type { Position } from '../domain/event.ts'

/** A stored document of a read model: snake_case, in its answer's shape, with its id. */
export type Document = { readonly [key: string]: unknown }

/**
 * A declared index. Documents are found by equality on all of `equals` (dotted paths allowed) and
 * come ordered by `orderBy`, ties by id. A document in which an `equals` field is undefined is not
 * in that index; null is a value like any other. `totals: false`: how many are found together is
 * not kept but counted where it is asked for, as they are few.
 */
export type Index = {
  readonly equals: readonly string[]
  readonly orderBy?: string
  readonly totals?: false
}

/** What the views need to know of a read model to store it. */
export type ViewSpec = {
  readonly name: string
  readonly indexes: Readonly<Record<string, Index>>
  /** Raised when handlers give documents other fields than before; absent: 1. */
  readonly version?: number
}

export type Scalar = string | number | boolean | null

/** One question, answered from one index: equality on its fields, then its order. */
export type Find = {
  index: string
  /** A value for every `equals` field of the index, in that order. */
  equals: readonly Scalar[]
  /** Other values that the last `equals` field may have; documents of all come in one order. */
  orLast?: readonly Scalar[]
  /** Half-open range on `orderBy`: from <= value < below. */
  from?: Scalar
  below?: Scalar
  descending?: boolean
  skip?: number
  limit: number
  /** How many match, where the asker knows: they are not counted then. */
  total?: number
  /** No more is read once the items have so many bytes, roughly. */
  bytes?: number
}

/**
 * `total` counts all that match, regardless of skip, limit and bytes. `cut`: bytes ended the items.
 */
export type FindResult<View> = { items: View[]; total: number; cut?: true }

/**
 * Reading side of one read model. A read that begins after a commit has resolved sees all of it.
 * A read that runs during a commit may see some of its documents and not yet others:
 * - a document is always whole, and never older than when it was read before;
 * - documents appear in the order of their changes, so a document that names others comes last;
 * - read models of one commit may appear in any order;
 * - the items and the total of one answer, and the batches of `all`, may be of different moments.
 * The embedded adapter shows a commit at once, and gives every answer as of one moment.
 */
export type View<Doc> = {
  get(id: string): Promise<Doc | undefined>
  find(query: Find): Promise<FindResult<Doc>>
  /** Every document with its id, in id order, in batches: snapshots and parity checks. */
  all(): AsyncIterable<readonly { id: string; document: Doc }[]>
}

/** A change of one document; `document` undefined removes it. */
export type DocumentChange = { id: string; document: Document | undefined }

/** Everything that one batch of events changed in one read model. */
export type Commit = { view: string; changes: readonly DocumentChange[]; position: Position }

/** A rebuild writes a generation of its own beside the live one and is swapped in whole. */
export type Generation = 'live' | 'rebuild'

/**
 * Another process has committed to this read model since this one read its checkpoint, so this
 * one folded from outdated documents. Nothing was stored; read the checkpoint and start over.
 */
export class CheckpointMoved extends Error {
  override readonly name = 'CheckpointMoved'
  constructor(view: string) {
    super(`another process has taken ${view} further`)
  }
}

/**
 * A document that no store can hold: too many levels, too large, or not data. Nothing of the commit
 * was stored. Trying again is no use.
 */
export class DocumentRefused extends Error {
  override readonly name = 'DocumentRefused'
  constructor(view: string, id: string, why: string) {
    super(`${view} cannot store the document ${id}: ${why}`)
  }
}

export type Views = {
  /** Declares a read model (creating or changing its indexes) and gives its reading side. */
  view<Doc>(spec: ViewSpec): Promise<View<Doc>>
  /** The position up to which a read model is folded; START (-1) when nothing is. */
  checkpoint(view: string, generation?: Generation): Promise<Position>
  /** The current documents of those ids, for folding; missing ones are absent. */
  load(
    view: string,
    ids: readonly string[],
    generation?: Generation,
  ): Promise<Map<string, Document>>
  /** The ids of all documents with these values, for events that remove many. */
  idsOf(
    view: string,
    index: string,
    equals: readonly Scalar[],
    generation?: Generation,
  ): Promise<string[]>
  /**
   * Stores changes, index entries and checkpoint of every listed read model. A commit that a
   * crash cuts off is either stored whole after the next opening, or not at all, each read model
   * by itself. A commit at or below a
   * read model's checkpoint changes nothing. `more`: as much is committed next, so a store may
   * write what it has taken together with that; a crash then loses more commits, each whole.
   * @throws StoreUnavailable, CheckpointMoved, DocumentRefused
   */
  commit(commits: readonly Commit[], generation?: Generation, more?: boolean): Promise<void>
  /** The version of the read model that its live documents began with. */
  version(view: string): Promise<number>
  /** Starts a rebuild of a read model from nothing, discarding an unfinished one. */
  beginRebuild(view: string): Promise<void>
  /** Makes the rebuilt generation the live one and drops the old. Readers see one or the other. */
  swap(view: string): Promise<void>
  close(): Promise<void>
}

/** Resolves when the views show every event up to a position, or after a bounded wait. */
export type WaitForPosition = (position: Position) => Promise<unknown>
