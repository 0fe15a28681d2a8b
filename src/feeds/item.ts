import type { Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'
import type { Document, Views } from '../ports/views.ts'
import { firstPart, inParts } from '../support/in-parts.ts'
import { yieldToEventLoop } from '../support/yield-to-event-loop.ts'

/** A change of one document, as a line of JSON: serialized once for all subscribers. */
export type Item = { position: Position; text: string }

export type Shown = (document: Document) => Promise<Document>

export const upsert = (id: string, document: Document, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'upsert', id, document, position }),
})

const removed = (id: string, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'delete', id, position }),
})

/** What is told at once, and so what a consumer that does not read holds. */
const most = { bytes: 65_536, items: 200 }
/** How many documents are loaded first, while their size is not known. */
const firstLoad = 2

type Made = Item | undefined

const weighed = async (made: Promise<Made>) => {
  const value = await made
  return { value, bytes: value?.text.length ?? 0 }
}

const isMade = (made: Made): made is Item => made !== undefined

/** Characters of their text. */
export const lengthOf = (items: readonly Item[]): number =>
  items.reduce((sum, { text }) => sum + text.length, 0)

/** Items of documents, in parts; those of which nothing is told are left out. */
export async function* itemParts<One>(
  all: readonly One[],
  make: (one: One) => Promise<Made>,
): AsyncGenerator<Item[]> {
  for await (const part of inParts(all, (one) => weighed(make(one)), most))
    yield part.filter(isMade)
}

/** Runs work, which may wait for others' work first. */
export type Turn = <T>(work: () => Promise<T>) => Promise<T>

type Loading = {
  load: Views['load']
  view: string
  organizationId: string
  shown: Shown
  /** Each part is built in its own turn, so its documents are freed. */
  turn?: Turn
}

/** `next`: the position of the change that follows. */
type Part = { items: Item[]; next: Position | undefined }

/**
 * Changed documents as items, in parts. Only so many are loaded as fit into a part: how many
 * follows from those before. What does not fit is loaded again for the next part, and not kept.
 */
async function* changedParts(
  { load, view, organizationId, shown, turn = (work) => work() }: Loading,
  ids: ReadonlyMap<string, Position>,
): AsyncGenerator<Part> {
  const names = [...ids.keys()]
  let n = 0
  let count = firstLoad

  const firstOf = async (some: readonly string[], bytes: number): Promise<Made[]> => {
    const documents = await load(view, some)
    const make = async (id: string): Promise<Made> => {
      const position = ids.get(id) ?? START
      const document = documents.get(id)
      if (!document) return removed(id, position)
      if (document.organization_id !== organizationId) return undefined
      return upsert(id, await shown(document), position)
    }
    return firstPart(some, (id) => weighed(make(id)), bytes)
  }

  const part = async (): Promise<Item[]> => {
    const items: Item[] = []
    let left = most.bytes
    while (n < names.length && left > 0 && items.length < most.items) {
      const some = names.slice(n, n + count)
      const made = await firstOf(some, left)
      n += made.length
      const own = made.filter(isMade)
      items.push(...own)
      left -= lengthOf(own)
      if (made.length < some.length) count = made.length
      else if (left > 0) count = Math.min(2 * count, most.items)
    }
    if (left <= 0) await yieldToEventLoop()
    return items
  }

  while (n < names.length) {
    const items = await turn(part)
    yield { items, next: ids.get(names[n] ?? '') }
  }
}

/**
 * The present state of changed documents, at the position of their change or later, in parts that
 * end where a position ends: a client resumes behind any of them.
 */
export async function* itemsOf(
  loading: Loading,
  ids: ReadonlyMap<string, Position>,
): AsyncGenerator<Item[]> {
  let held: Item[] = []
  for await (const { items, next } of changedParts(loading, ids)) {
    const all = [...held, ...items]
    const shared = all.findIndex(({ position }) => position === next)
    const end = shared === -1 ? all.length : shared
    held = all.slice(end)
    if (end > 0) yield all.slice(0, end)
  }
  if (held.length > 0) yield held
}

/**
 * Items. `partial`: a client cannot resume before the next batch; `reached`: the position to resume
 * from after these items.
 */
export type FeedBatch = { items: readonly Item[]; partial?: true; reached?: Position }

/** The next batch, or that there is none. */
export type Told = IteratorResult<FeedBatch, undefined>
export const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

/** Is told of items as soon as they are in memory. */
export type OnLoaded = (items: readonly Item[]) => void

/** Parts as batches, the last of which tells where to resume: one part is read ahead. */
export async function* ending(
  parts: AsyncIterable<readonly Item[]>,
  reached: Position,
  others: Pick<FeedBatch, 'partial'> = {},
  onLoaded: OnLoaded = () => undefined,
): AsyncGenerator<FeedBatch> {
  let held: readonly Item[] | undefined
  for await (const items of parts) {
    onLoaded(items)
    if (held) yield { items: held, ...others }
    held = items
  }
  yield { items: held ?? [], reached }
}

/** The bytes of items that are pushed to many: encoded once, whoever is told of them. */
const encoded = new WeakMap<readonly Item[], Buffer>()

/** Items as bytes of SSE frames; empty where there is nothing to tell. */
export const sseBytes = (batch: FeedBatch): Buffer => {
  const { items, partial, reached } = batch
  if (items.length === 0 || partial || reached !== undefined) return Buffer.from(sseOf(batch))
  const known = encoded.get(items) ?? Buffer.from(sseOf(batch))
  encoded.set(items, known)
  return known
}

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
