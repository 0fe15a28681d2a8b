import type { Position } from '../domain/event.ts'
import { START } from '../ports/event-store.ts'
import type { Document, Views } from '../ports/views.ts'

/** A change of one document, as a line of JSON: serialized once for all subscribers. */
export type Item = { position: Position; text: string }

export type Shown = (document: Document) => Promise<Document>

/** How many documents are opened at once. */
const some = 200

export const upsert = (id: string, document: Document, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'upsert', id, document, position }),
})

const removed = (id: string, position: Position): Item => ({
  position,
  text: JSON.stringify({ op: 'delete', id, position }),
})

/** The present state of changed documents, at the position of their change or later. */
export const itemsOf = async (
  load: Views['load'],
  view: string,
  organizationId: string,
  ids: ReadonlyMap<string, Position>,
  shown: Shown,
): Promise<Item[]> => {
  const names = [...ids.keys()]
  const items: Item[] = []
  for (let n = 0; n < names.length; n += some) {
    const part = names.slice(n, n + some)
    const documents = await load(view, part)
    const made = part.map(async (id): Promise<Item[]> => {
      const position = ids.get(id) ?? START
      const document = documents.get(id)
      if (!document) return [removed(id, position)]
      if (document.organization_id !== organizationId) return []
      return [upsert(id, await shown(document), position)]
    })
    items.push(...(await Promise.all(made)).flat())
  }
  return items
}

/**
 * Items. `partial`: a client cannot resume before the next batch; `reached`: the position to resume
 * from after these items.
 */
export type FeedBatch = { items: readonly Item[]; partial?: true; reached?: Position }

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
