import { type Fields, hasFields } from '../support/fields.ts'

const key = 'x-mcp-header'
const headerName = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const types: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean'])

/** How often the key stands in a value, at any level. */
const timesIn = (value: unknown): number => {
  if (!hasFields(value)) return 0
  const inside = Object.values(value).reduce((sum: number, item) => sum + timesIn(item), 0)
  return inside + (Object.hasOwn(value, key) ? 1 : 0)
}

/** The headers that a schema's properties declare as the protocol has it, in lower case. */
const declaredIn = ({ properties }: Fields): string[] =>
  hasFields(properties)
    ? Object.values(properties)
        .filter(hasFields)
        .flatMap((property) => {
          const { [key]: name, type } = property
          const isOwn = typeof name === 'string' && headerName.test(name) && types.has(type)
          return [...(isOwn ? [name.toLowerCase()] : []), ...declaredIn(property)]
        })
    : []

/**
 * Whether a schema declares headers only as the protocol has it. The protocol's package omits other
 * tools itself, and writes their names, which may hold a secret, to the console.
 */
export const hasProperHeaders = (schema: Fields): boolean =>
  new Set(declaredIn(schema)).size === timesIn(schema)
