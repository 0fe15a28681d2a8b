import { writeJson } from '../../support/json-bytes.ts'
import { utf8Of } from '../../support/utf8.ts'

/** JSON as it is answered: it ends its line, so that a terminal's next prompt begins one. */
export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`

/**
 * The same for the answer of a turn, as bytes: a string would be copied twice more, in two bytes a
 * character where one is outside Latin-1. Fastify sends bytes too, but its types want a string.
 */
export const turnJson = (value: unknown): string =>
  utf8Of((to) => {
    writeJson(value, to)
    to.write('\n')
  }) as unknown as string
