import { type Sealed, sealed } from '../src/domain/sealed.ts'
import { StoreUnavailable } from '../src/ports/event-store.ts'
import { isCredentialsKey, type Vault } from '../src/security/vault.ts'

/**
 * What a stored value says: sealed texts in clear, `{erased: true}` once their key is destroyed,
 * `{withheld: true}` for credentials. What looks sealed and does not open stays as it is stored.
 */
export const opener = (open: Vault['open']) => {
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
