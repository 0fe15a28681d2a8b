import { z } from 'zod'

/** Where a value that fits a schema has sealed texts. */
export type SealedPlaces =
  | 'here'
  | { fields: ReadonlyMap<string, SealedPlaces> }
  | { items: SealedPlaces }

const wrapped = (schema: unknown): unknown =>
  schema instanceof z.ZodOptional ||
  schema instanceof z.ZodNullable ||
  schema instanceof z.ZodDefault ||
  schema instanceof z.ZodReadonly
    ? schema.unwrap()
    : undefined

/**
 * The places that a schema marks as sealed; undefined where there is none. A sealed text inside a
 * record, a tuple or a union has no place of its own, and is not found.
 */
export const sealedPlaces = (schema: unknown): SealedPlaces | undefined => {
  const inner = wrapped(schema)
  if (inner) return sealedPlaces(inner)
  if (schema instanceof z.ZodArray) {
    const items = sealedPlaces(schema.element)
    return items && { items }
  }
  if (!(schema instanceof z.ZodObject)) return undefined
  if ('$sealed' in schema.shape) return 'here'
  const fields = new Map<string, SealedPlaces>()
  for (const [name, field] of Object.entries(schema.shape)) {
    const places = sealedPlaces(field)
    if (places) fields.set(name, places)
  }
  return fields.size > 0 ? { fields } : undefined
}
