/** One value: text as it is, nothing for null and for what is absent, all else as JSON. */
const cell = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** A line of a table (RFC 4180). */
export const csvRow = (values: readonly unknown[]): string => `${values.map(cell).join(',')}\r\n`
