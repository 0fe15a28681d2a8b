import { type Sealed, sealed } from '../src/domain/sealed.ts'
import { StoreUnavailable } from '../src/ports/event-store.ts'
import { isCredentialsKey, type Vault } from '../src/security/vault.ts'
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

/**
 * What a stored value says: sealed texts in clear, `{erased: true}` once their key is destroyed,
 * `{withheld: true}` for credentials. What looks sealed and does not open stays as it is stored.
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
  const opened = async (value: unknown, charge: Charge = free): Promise<unknown> => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return Promise.all(value.map((one) => opened(one, charge)))
    const box = sealed.strict().safeParse(value)
    if (box.success) return text(box.data, charge)
    const entries = Object.entries(value).map(async ([key, part]) => [
      key,
      await opened(part, charge),
    ])
    return Object.fromEntries(await Promise.all(entries))
  }
  return opened
}

/** A value as it is shown, and the weight of what was opened for it: sealed texts are compressed. */
export const weighed = async <Value>(
  show: (charge: Charge) => Promise<Value>,
): Promise<Sized<Value>> => {
  let bytes = itemBytes
  const value = await show((more) => {
    bytes += more
  })
  return { value, bytes }
}
