import { jsonBytes } from '../../support/json-bytes.ts'

const lineFeed = 0x0a

/** JSON as it is answered: it ends its line, so that a terminal's next prompt begins one. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`

const bytesOf = jsonBytes({ after: 1 })

/**
 * The same for the answer of a turn, as bytes where it can be: sent as a text it is copied twice more, each character in two
 * bytes where one of them is such as `“`. Fastify sends bytes too, but its types ask for a text.
 */
export const turnJson = (value: unknown): string => {
  const bytes = bytesOf(value)
  bytes?.fill(lineFeed, bytes.length - 1)
  return (bytes as unknown as string | undefined) ?? jsonLine(value)
}
