import { typeOf } from './schema-fields.ts'

const types: readonly (readonly [RegExp, string])[] = [
  [/^integer/, 'BIGINT'],
  [/^number/, 'DOUBLE'],
  [/^boolean/, 'BOOLEAN'],
  [/^string \(date-time\)/, 'TIMESTAMPTZ'],
  [/^string \(date\)/, 'DATE'],
  [/^(list|object|any)/, 'JSON'],
]

const typeFor = (schema: unknown): string => {
  const words = typeOf(schema)
  return types.find(([pattern]) => pattern.test(words))?.[1] ?? 'VARCHAR'
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The statements for DuckDB that make a table of a read model's documents. */
export const duckDbLines = (feed: {
  read_model: string
  schema: { properties?: unknown }
}): string => {
  const { properties } = feed.schema
  const fields =
    typeof properties === 'object' && properties !== null ? Object.entries(properties) : []
  const columns = fields.map(
    ([name, schema]) =>
      `  CAST(json_extract_string(document, '$.${quoted(name)}') AS ${typeFor(schema)}) AS ${quoted(name)}`,
  )
  return [
    `CREATE OR REPLACE TABLE ${quoted(feed.read_model)} AS SELECT`,
    `${['  id AS document_id', ...columns].join(',\n')}`,
    `FROM read_json('${feed.read_model}.ndjson', columns = {op: 'VARCHAR', id: 'VARCHAR', document: 'JSON'})`,
    `WHERE op = 'upsert';`,
  ].join('\n')
}
