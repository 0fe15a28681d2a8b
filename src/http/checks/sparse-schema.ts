import { z } from 'zod'

/** Objects with fewer fields are not worth it. */
const manyFields = 12
/** A set of fields is a number, a bit each: as text, each field would cost a string. */
const mostFields = 53
/**
 * How many sets of fields get their own schema: building one takes as long as a hundred checks.
 * Later sets are checked by the whole schema.
 */
const mostSets = 64

/** Whether a field that is absent stays absent, whatever else is sent. */
const mayBeAbsent = (field: z.core.$ZodType): boolean => {
  const { success, data } = z.safeParse(field, undefined)
  return success && data === undefined
}

/**
 * A schema for an object with many optional fields, of which few are ever sent: a value is checked
 * by the fields that it has and those that it must have. What comes out is the same, but for fields
 * that would be there as undefined. Undefined for a schema that this is not for.
 */
export const sparseSchema = (schema: z.ZodType): ((value: unknown) => z.ZodType) | undefined => {
  if (!(schema instanceof z.ZodObject)) return undefined
  const { shape, checks = [], catchall } = schema.def
  const names = Object.keys(shape)
  if (names.length < manyFields || checks.length > 0 || catchall) return undefined
  const optional = names.filter((name) => mayBeAbsent(shape[name]))
  if (optional.length > mostFields) return undefined
  const schemas = new Map<number, z.ZodType>()
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return schema
    let sent = 0
    for (const name of optional) sent = 2 * sent + (name in value ? 1 : 0)
    const known = schemas.get(sent)
    if (known) return known
    if (schemas.size === mostSets) return schema
    const absent = optional.filter((name) => !(name in value))
    const sparse = schema.omit(Object.fromEntries(absent.map((name) => [name, true])) as never)
    schemas.set(sent, sparse)
    return sparse
  }
}
