import { writeJson } from '../../support/json-bytes.ts'
import { utf8Of } from '../../support/utf8.ts'

/** JSON as it is answered: it ends its line, so that a terminal's next prompt begins one. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`

/**
 * The same for the answer of a turn, as bytes: sent as a text it is copied twice more, each character in two bytes where
 * one of them is such as `“`. Fastify sends bytes too, but its types ask for a text.
 */
export const turnJson = (value: unknown): string =>
  utf8Of((to) => {
    writeJson(value, to)
    to.write('\n')
  }) as unknown as string
