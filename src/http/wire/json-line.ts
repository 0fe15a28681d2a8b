import { jsonBytes } from '../../support/json-bytes.ts'

const lineFeed = Buffer.from('\n')

/** JSON as it is answered: it ends its line, so that a terminal's next prompt begins one. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`

/**
 * The same for the answer of a turn, as bytes where it can be: sent as a text it is copied twice more, each character in two
 * bytes where one of them is such as `“`. Fastify sends bytes too, but its types ask for a text.
 */
export const turnJson = (value: unknown): string =>
  (jsonBytes(value, { after: lineFeed }) as unknown as string | undefined) ?? jsonLine(value)
