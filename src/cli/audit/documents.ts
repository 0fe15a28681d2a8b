import { sealed } from '../../domain/sealed.ts'
import type { Document } from '../../ports/views.ts'
import { shortText } from '../../support/cut-text.ts'
import { table } from '../table.ts'

const widest = 40

const cell = (value: unknown): string => {
  if (value === undefined || value === null) return '-'
  const text = sealed.safeParse(value).success
    ? '(sealed)'
    : typeof value === 'string'
      ? value
      : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ')
  return shortText(line, widest)
}

/** Documents as a table, their ids first. */
export const documentTable = (documents: ReadonlyMap<string, Document>): string => {
  const fields = [...new Set([...documents.values()].flatMap((document) => Object.keys(document)))]
  const rows = [...documents].map(([id, document]) => [
    id,
    ...fields.map((field) => cell(document[field])),
  ])
  return table([['ID', ...fields.map((field) => field.toUpperCase())], ...rows])
}

/** One JSON object per line. */
export const documentLines = (documents: ReadonlyMap<string, Document>): string =>
  [...documents].map(([id, document]) => JSON.stringify({ id, document })).join('\n')
