import { readModels } from '../projections/all.ts'
import { publicDocument, type ReadModel } from '../projections/projection.ts'
import type { EventTable } from '../src/domain/aggregate.ts'
import { eventsByCategory } from '../src/domain/categories.ts'
import { ownerOf } from '../src/domain/event.ts'
import { type Sealed, sealed } from '../src/domain/sealed.ts'
import { type SealedPlaces, sealedPlaces } from '../src/domain/sealed-places.ts'
import { type RecordedEvent, StoreUnavailable } from '../src/ports/event-store.ts'
import type { Document } from '../src/ports/views.ts'
import { isCredentialsKey, isKeyOf, type Vault } from '../src/security/vault.ts'
import type { Sized } from '../src/support/in-parts.ts'

/** How much opened text one page of a list has, and one part of a stream. */
export const pageBytes = 8 * 1024 * 1024
export const partBytes = 1024 * 1024
/** How many items are opened together in a stream. */
export const partItems = 200
/** What an item weighs beside its sealed texts, at the least. */
const itemBytes = 500

export type Charge = (bytes: number) => void

const free: Charge = () => undefined

const placesByType = new Map(
  Object.values<EventTable>(eventsByCategory).flatMap((table) =>
    Object.entries(table).map(([type, schema]) => [type, sealedPlaces(schema)]),
  ),
)
const placesByModel = new Map(
  [...readModels.values()].map((model) => [model, sealedPlaces(model.schema)]),
)

/** The stream `user-1` has texts under the key `user:1`. */
const keyOfStream = (stream: string): string => stream.replace('-', ':')

/**
 * What is stored, as an organization is shown it: sealed texts in clear, `{erased: true}` once
 * their key is destroyed, `{withheld: true}` for credentials. A text is opened only where the
 * schema of the event or document has one, and only with a key of the organization whose history it
 * is in, or of the platform's stream that it is in. Everything else stays as it is stored, and what
 * does not open.
 */
export const opener = (open: Vault['open']) => {
  const text = async (box: Sealed, charge: Charge) => {
    if (isCredentialsKey(box.$sealed)) return { withheld: true }
    try {
      const clear = await open(box)
      if (clear === undefined) return { erased: true }
      charge(clear.length)
      return clear
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      return box
    }
  }

  const openTexts = async (
    value: unknown,
    places: SealedPlaces | undefined,
    isOwn: (key: string) => boolean,
    charge: Charge,
  ): Promise<unknown> => {
    if (!places || typeof value !== 'object' || value === null) return value
    if (places === 'here') {
      const box = sealed.strict().safeParse(value)
      return box.success && isOwn(box.data.$sealed) ? text(box.data, charge) : value
    }
    if ('items' in places)
      return Array.isArray(value)
        ? Promise.all(value.map((item) => openTexts(item, places.items, isOwn, charge)))
        : value
    const entries = Object.entries(value).map(async ([name, part]) => [
      name,
      await openTexts(part, places.fields.get(name), isOwn, charge),
    ])
    return Object.fromEntries(await Promise.all(entries))
  }

  return {
    /** The data of an event. */
    event(event: RecordedEvent, charge: Charge = free): Promise<unknown> {
      const { stream, type, data } = event
      const owner = ownerOf(event)
      const isOwn = (key: string) => isKeyOf(owner, key) || key === keyOfStream(stream)
      return openTexts(data, placesByType.get(type), isOwn, charge)
    },
    /** A document of a read model, in the form in which that is shown. */
    async document(model: ReadModel, document: Document, charge: Charge = free): Promise<Document> {
      const owner = document.organization_id
      const isOwn = (key: string) => typeof owner === 'string' && isKeyOf(owner, key)
      return (await openTexts(
        publicDocument(model, document),
        placesByModel.get(model),
        isOwn,
        charge,
      )) as Document
    },
  }
}

/**
 * A value as it is shown, and the weight of what was opened for it: sealed texts are compressed.
 */
export const weighed = async <Value>(
  show: (charge: Charge) => Promise<Value>,
): Promise<Sized<Value>> => {
  let bytes = itemBytes
  const value = await show((more) => {
    bytes += more
  })
  return { value, bytes }
}
