import t from 'tap'
import { duckDbLines } from '../../console/src/screens/feeds/duckdb.ts'
import { schemaFields } from '../../console/src/screens/feeds/schema-fields.ts'

const schema = {
  type: 'object',
  properties: {
    day: { type: 'string', format: 'date', description: 'UTC' },
    agent_id: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    runs: { type: 'integer' },
    status: { type: 'string', enum: ['ready', 'failed'] },
    key_id: { type: ['string', 'null'] },
    tools: { type: 'array', items: { type: 'string' } },
    durations: { type: 'object' },
    other: {},
  },
}

t.test('tells the type of each field in words', async (t) => {
  t.strictSame(schemaFields(schema), [
    { name: 'day', type: 'string (date)', description: 'UTC' },
    { name: 'agent_id', type: 'string or null', description: '' },
    { name: 'runs', type: 'integer', description: '' },
    { name: 'status', type: 'ready, failed', description: '' },
    { name: 'key_id', type: 'string or null', description: '' },
    { name: 'tools', type: 'list of string', description: '' },
    { name: 'durations', type: 'object', description: '' },
    { name: 'other', type: 'any', description: '' },
  ])
  t.strictSame(schemaFields({}), [])
})

t.test('makes a table with a column of a fitting type for each field', async (t) => {
  t.equal(
    duckDbLines({ read_model: 'usage', schema }),
    `CREATE OR REPLACE TABLE "usage" AS SELECT
  id AS document_id,
  CAST(json_extract_string(document, '$."day"') AS DATE) AS "day",
  CAST(json_extract_string(document, '$."agent_id"') AS VARCHAR) AS "agent_id",
  CAST(json_extract_string(document, '$."runs"') AS BIGINT) AS "runs",
  CAST(json_extract_string(document, '$."status"') AS VARCHAR) AS "status",
  CAST(json_extract_string(document, '$."key_id"') AS VARCHAR) AS "key_id",
  CAST(json_extract_string(document, '$."tools"') AS JSON) AS "tools",
  CAST(json_extract_string(document, '$."durations"') AS JSON) AS "durations",
  CAST(json_extract_string(document, '$."other"') AS JSON) AS "other"
FROM read_json('usage.ndjson', columns = {op: 'VARCHAR', id: 'VARCHAR', document: 'JSON'})
WHERE op = 'upsert';`,
  )
})
