import type { Document } from '../ports/views.ts'
import type { Item } from './item.ts'

/** The columns that a change has beside those of its document. */
const own = ['op', 'id', 'position'] as const

type Change = { op: string; id: string; position: number; document?: Document }

/** The names of a feed's columns: a field that is called as one of the change's is `document_…`. */
export const columnsOf = (fields: readonly string[]): string[] => [
  ...own,
  ...fields.map((field) => (own.some((name) => name === field) ? `document_${field}` : field)),
]

/** The values of a change in these columns. */
export const valuesOf = ({ text }: Item, fields: readonly string[]): unknown[] => {
  const change: Change = JSON.parse(text)
  const { document = {} } = change
  return [...own.map((name) => change[name]), ...fields.map((field) => document[field])]
}
