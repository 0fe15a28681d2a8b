/** What a spreadsheet takes for the beginning of a formula. */
const formula = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

export type CsvOptions = {
  /** Text that a spreadsheet would take for a formula gets an apostrophe in front. */
  escapeFormulas?: boolean
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** One value: text as it is, nothing for null and for what is absent, all else as JSON. */
const cell = (value: unknown, { escapeFormulas = false }: CsvOptions): string => {
  if (value === undefined || value === null) return ''
  if (typeof value !== 'string') {
    const json = JSON.stringify(value)
    return /[",]/.test(json) ? quoted(json) : json
  }
  if (escapeFormulas && formula.test(value)) return quoted(`'${value}`)
  return /[",\r\n]/.test(value) || escapeFormulas ? quoted(value) : value
}

/** A line of a table (RFC 4180). */
export const csvRow = (values: readonly unknown[], options: CsvOptions = {}): string =>
  `${values.map((value) => cell(value, options)).join(',')}\r\n`
