export type SchemaField = { name: string; type: string; description: string }

type Schema = {
  type?: unknown
  anyOf?: unknown
  enum?: unknown
  const?: unknown
  format?: unknown
  items?: unknown
  description?: unknown
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null

/** "text", "text (date-time) or null", "list of objects": a type in words. */
export const typeOf = (schema: unknown): string => {
  if (!isSchema(schema)) return 'any'
  if (Array.isArray(schema.anyOf)) return [...new Set(schema.anyOf.map(typeOf))].join(' or ')
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => String(value)).join(', ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.type === 'array') return `list of ${typeOf(schema.items)}`
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type })).join(' or ')
  if (typeof schema.type !== 'string') return 'any'
  return typeof schema.format === 'string' && schema.type !== 'null'
    ? `${schema.type} (${schema.format})`
    : schema.type
}

/** The fields of a JSON Schema of an object, in its order. */
export const schemaFields = (schema: { properties?: unknown }): SchemaField[] => {
  const { properties } = schema
  if (typeof properties !== 'object' || properties === null) return []
  return Object.entries(properties).map(([name, field]) => ({
    name,
    type: typeOf(field),
    description: isSchema(field) && typeof field.description === 'string' ? field.description : '',
  }))
}
