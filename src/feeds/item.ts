import type { Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'
import type { Document, Views } from '../ports/views.ts'
import { firstPart } from '../support/in-parts.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'
import type { PartLoads } from './part-loads.ts'

/** A change of one document, as a line of JSON: serialized once for all subscribers. */
export type Item = { position: Position; text: string }

/** Gives equal items of several feeds the same array (`shared-items.ts`). */
export type ShareItems = (items: readonly Item[]) => readonly Item[]

export type DocumentOpener = (document: Document) => Promise<Document>

export const upsert = (id: string, document: Document, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'upsert', id, document, position }),
})

const removed = (id: string, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'delete', id, position }),
})

/** The bounds of a batch, and so of what a consumer that does not read holds. */
const most = { bytes: 65_536, items: 200 }
/** How many documents are loaded first, while their size is not known. */
const firstLoad = 2

/** Undefined for another organization's document. */
type OwnItem = Item | undefined

const weighed = async (item: Promise<OwnItem>) => {
  const value = await item
  return { value, bytes: value?.text.length ?? 0 }
}

const isItem = (item: OwnItem): item is Item => item !== undefined

/** Characters of their text. */
export const lengthOf = (items: readonly Item[]): number =>
  items.reduce((sum, { text }) => sum + text.length, 0)

/** A part of all items, and how many it covers. `count`: how many to load first for the next. */
export type LoadedPart = { items: readonly Item[]; length: number; count: number }

/**
 * The first part of all items. Only so many are loaded as fit into it: how many follows from those
 * before. What does not fit is loaded again for the next part, and not kept.
 */
export const loadPart = async <One>(
  all: readonly One[],
  firstCount: number,
  load: (some: readonly One[]) => Promise<(entry: One) => Promise<OwnItem>>,
): Promise<LoadedPart> => {
  const items: Item[] = []
  let length = 0
  let count = firstCount
  let left = most.bytes
  while (length < all.length && left > 0) {
    const some = all.slice(length, length + count)
    const make = await load(some)
    const loaded = await firstPart(some, (entry) => weighed(make(entry)), left)
    length += loaded.length
    const own = loaded.filter(isItem)
    items.push(...own)
    left -= lengthOf(own)
    if (loaded.length < some.length) count = loaded.length
    else if (left > 0) count = Math.min(2 * count, most.items)
  }
  if (left <= 0) await yieldToEventLoop()
  return { items, length, count }
}

/**
 * Items. `partial`: a client cannot resume before the next batch; `reached`: the position to resume
 * from after these items.
 */
export type FeedBatch = { items: readonly Item[]; partial?: true; reached?: Position }

/** The next batch, or that there is none. */
export type BatchResult = IteratorResult<FeedBatch, undefined>
export const endOfFeed: IteratorReturnResult<undefined> = { done: true, value: undefined }

type Loading = {
  load: Views['load']
  view: string
  organizationId: string
  open: DocumentOpener
  parts?: PartLoads<LoadedPart>
  /** For items that other feeds may hold too. */
  share?: ShareItems
}

/** `next`: the position of the change that follows. */
type Part = { items: readonly Item[]; next: Position | undefined }

const alone: PartLoads<LoadedPart> = (_, __, load) => load()
const unshared: ShareItems = (items) => items

/** Changed documents as items, in parts: one is loaded when it is asked for. */
async function* changedParts(
  { load, view, organizationId, open, parts = alone, share = unshared }: Loading,
  ids: ReadonlyMap<string, Position>,
): AsyncGenerator<Part> {
  type Change = readonly [id: string, position: Position]

  const loadSome = async (some: readonly Change[]) => {
    const documents = await load(
      view,
      some.map(([id]) => id),
    )
    return async ([id, position]: Change): Promise<OwnItem> => {
      const document = documents.get(id)
      if (!document) return removed(id, position)
      if (document.organization_id !== organizationId) return undefined
      return upsert(id, await open(document), position)
    }
  }

  const names = [...ids.keys()]
  const changeOf = (id: string): Change => [id, ids.get(id) ?? START]
  let n = 0
  let count = firstLoad
  while (n < names.length) {
    const some = names.slice(n, n + most.items).map(changeOf)
    const name = `${view} ${count} ${some.join(' ')}`
    const load = async () => {
      const part = await loadPart(some, count, loadSome)
      return { ...part, items: share(part.items) }
    }
    const part = await parts(organizationId, name, load)
    n += part.length
    count = part.count
    yield { items: part.items, next: ids.get(names[n] ?? '') }
  }
}

/**
 * The present state of changed documents, at the position of their change or later, in batches that
 * end where a position ends: a client resumes behind any of them. The last tells where that is.
 */
export async function* changedBatches(
  loading: Loading,
  ids: ReadonlyMap<string, Position>,
  reached: Position,
): AsyncGenerator<FeedBatch> {
  let held: readonly Item[] = []
  for await (const { items, next } of changedParts(loading, ids)) {
    // Feeds at the same position share the array: it is copied only where items were held back.
    const all = held.length > 0 ? [...held, ...items] : items
    if (next === undefined) return yield { items: all, reached }
    const shared = all.findIndex(({ position }) => position === next)
    held = shared === -1 ? [] : all.slice(shared)
    if (shared !== 0) yield { items: shared === -1 ? all : all.slice(0, shared) }
  }
  yield { items: [], reached }
}

/**
 * All items at one position, in batches, the last of which tells that position. Nothing is held
 * between two of them: a generator would keep the last batch until the next is made.
 */
export const snapshotBatches = <One>(
  all: readonly One[],
  reached: Position,
  load: (n: number, count: number, some: readonly One[]) => Promise<LoadedPart>,
): (() => Promise<BatchResult>) => {
  let n = 0
  let count = firstLoad
  let over = false
  return async () => {
    if (over) return endOfFeed
    const part = await load(n, count, all.slice(n, n + most.items))
    n += part.length
    count = part.count
    over = n >= all.length
    return { value: { items: part.items, ...(over ? { reached } : { partial: true }) } }
  }
}

/** Encodes an array of items once for all of its consumers. */
const encoder = (encode: (items: readonly Item[]) => string) => {
  const known = new WeakMap<readonly Item[], Buffer>()
  return (items: readonly Item[]): Buffer => {
    const bytes = known.get(items) ?? Buffer.from(encode(items))
    known.set(items, bytes)
    return bytes
  }
}

const frameBytes = encoder((items) => sseOf({ items }))
const partialFrameBytes = encoder((items) => sseOf({ items, partial: true }))

/** Items as bytes of SSE frames; empty where there is nothing to tell. */
export const sseBytes = (batch: FeedBatch): Buffer => {
  if (batch.items.length === 0) return Buffer.from(sseOf(batch))
  return batch.partial ? partialFrameBytes(batch.items) : frameBytes(batch.items)
}

/** Items as bytes of lines. */
export const lineBytes = encoder((items) => items.map(({ text }) => `${text}\n`).join(''))

/**
 * Items as SSE frames. The `id:` is the position to resume from: of several items at one position
 * only the last has it, so that none is missed. Without items, the `id:` is sent alone.
 */
export const sseOf = ({ items, partial, reached }: FeedBatch): string => {
  if (items.length === 0) return reached === undefined ? '' : `id: ${reached}\n\n`
  const frames = items.map(({ position, text }, n) => {
    const goesOn = partial || items[n + 1]?.position === position
    return goesOn ? `data: ${text}\n\n` : `id: ${position}\ndata: ${text}\n\n`
  })
  return frames.join('')
}
