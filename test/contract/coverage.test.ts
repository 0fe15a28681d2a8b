import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { rows, type Table } from './rows.ts'

const path = 'docs/api-coverage.md'

const headings: Record<Table, string> = {
  endpoints: 'Endpoints',
  scopes: 'Scopes',
  requirements: 'Scope requirements per endpoint',
  errors: 'Errors',
  limits: 'Limits',
  'rate-limit rules': 'Rate-limit rules',
}

/** Names of tests: what `t.test` is given, and the keys of a table that is covered. */
const name = /(?:t\.test\(\s*|^ {2}(?:async )?)'((?:[^'\\\n]|\\.)+)'/gm

/** Every named test, with its file. */
const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.ts'))
  .toSorted()
  .flatMap((file) => {
    const source = readFileSync(join('test', file), 'utf8')
    return [...source.matchAll(name)].map(([, title = '']) => ({ file, name: title }))
  })

/** The files with tests named after a row: as it is, or as it is up to a colon. */
const filesFor = (row: string): string[] => [
  ...new Set(
    tests.filter(({ name }) => name === row || name.startsWith(`${row}: `)).map(({ file }) => file),
  ),
]

const lineOf = ([row, says]: [string, string]): string => {
  const files = filesFor(row).map((file) => `[${file}](../test/${file})`)
  return `| \`${row}\` | ${says} | ${files.join(', ')} |`
}

const table = (name: Table): string =>
  [
    `## ${headings[name]}`,
    '',
    '| Row | The contract says | Tests of this name |',
    '|---|---|---|',
    ...Object.entries(rows[name]).map(lineOf),
    '',
  ].join('\n')

const tables = Object.keys(rows) as Table[]

const page = `# What of the contract is tested where

Every row of the tables of the external API's contract is the name of at least one test; that a table
leaves none out is checked by the compiler (\`test/contract/covering.ts\`). To run what holds the server
to one row: \`npm test -- --grep='/^row/'\`. Made by \`test/contract/coverage.test.ts\`.

${tables.map(table).join('\n')}`

t.test('every row has a test of its name, and docs/api-coverage.md says which', async (t) => {
  for (const name of tables)
    for (const row of Object.keys(rows[name])) t.ok(filesFor(row).length > 0, row)
  if (process.env.UPDATE_DOCS) writeFileSync(path, page)
  else t.equal(readFileSync(path, 'utf8'), page, 'UPDATE_DOCS=1 writes it anew')
})
