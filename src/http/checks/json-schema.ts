import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

const options = {
  strict: false,
  validateFormats: false,
  unicodeRegExp: false,
  logger: false,
} as const
const older = /draft-0[467]\b/

/**
 * Why a JSON Schema cannot be used; undefined when it can. It is read as draft 7 if its `$schema`
 * says so, else as 2020-12. Unknown keywords are allowed, references to other documents are not.
 */
export const schemaFault = ({
  $schema,
  ...schema
}: Readonly<Record<string, unknown>>): string | undefined => {
  const ajv = older.test(String($schema)) ? new Ajv(options) : new Ajv2020(options)
  try {
    ajv.compile(schema)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}
