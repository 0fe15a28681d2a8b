/** The fields of a value of unknown form. */
export type Fields = Readonly<Record<string, unknown>>

/** Whether a value is an object or an array; the indexes of an array are its fields. */
export const hasFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null

/** Whether a value is an object, and no array. */
export const isObject = (value: unknown): value is Fields =>
  hasFields(value) && !Array.isArray(value)
