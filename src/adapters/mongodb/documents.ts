import type { Document } from '../../ports/views.ts'

/**
 * Field names that MongoDB, its driver or this adapter keep for themselves are stored with percent
 * signs: a leading `_` or `$`, dots, NUL, and the percent sign itself.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what is looked for
const special = /^[_$]|[.%\x00]/g

const escaped = (name: string): string =>
  name.replace(special, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`)

const unescaped = (name: string): string =>
  name.includes('%')
    ? name.replace(/%([0-9a-f]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    : name

const renamed = (value: unknown, rename: (name: string) => string): unknown => {
  if (Array.isArray(value)) return value.map((inner) => renamed(inner, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [rename(name), renamed(inner, rename)]),
  )
}

/** A document as MongoDB takes it. */
export const toStored = (document: Document) => renamed(document, escaped) as Document

/** A stored document as it was given, without the fields that the adapter added. */
export const fromStored = (stored: Document): Document =>
  renamed(
    Object.fromEntries(Object.entries(stored).filter(([name]) => !name.startsWith('_'))),
    unescaped,
  ) as Document

/** The stored form of a field's path. */
export const storedPath = (path: string): string => path.split('.').map(escaped).join('.')
