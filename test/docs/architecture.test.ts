import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import t from 'tap'
import { tracing } from '../support/find-it.ts'
import { sources } from '../support/imports.ts'
import { type Contract, operationsOf } from '../support/open-api.ts'
import { startApp } from '../support/server.ts'
import { tested, together } from '../support/tested.ts'

const page = 'docs/find-it.md'

const tree = sources()
const { homeless, testsOf, nearest, covered } = tested(tree)

const link = (name: string, file: string) => `[${name}](../${file})`
const short = (file: string) => basename(file).replace(/(\.test)?\.ts$/, '')
/** Files that are all called events.ts are labelled with their folders. */
const eventsLabel = (file: string) =>
  file.endsWith('/events.ts') ? `${file.split('/').at(-2)} events` : 'all events'
/** Files of the same name in a list are labelled with their folders as well. */
const cell = (files: readonly string[], name = short) => {
  const names = files.map(name)
  const isTwice = (text: string) => names.indexOf(text) !== names.lastIndexOf(text)
  const label = (file: string, text: string) =>
    isTwice(text) ? `${text} (${file.split('/').at(-2)})` : text
  return files.map((file, n) => link(label(file, names[n] ?? ''), file)).join(', ')
}
/** The first few of a list of tests, and how many more there are. */
const firstTests = (tests: readonly string[], most: number): string => {
  const rest = tests.length - most
  return `${cell(tests.slice(0, most))}${rest > 0 ? `, and ${rest} more` : ''}`
}
const row = (...cells: string[]) => `| ${cells.join(' | ')} |`

/** A list item, in lines of at most 120 columns where its links allow; none without links. */
const item = (label: string, links: string): string[] => {
  if (links === '') return []
  const lines = [`- ${label}:`]
  for (const part of links.split(/(?<=,) /)) {
    const longer = `${lines.at(-1)} ${part}`
    if (longer.length <= 120) lines[lines.length - 1] = longer
    else lines.push(`  ${part}`)
  }
  return lines
}

const chatPath = '/api/external/v1/chat/completions'

/** Tests that a section names: a section stays short. */
const mostTests = 12

const operationSections = (contract: Contract): string[] => {
  const trace = tracing(tree)
  return operationsOf(contract).map(({ method, path }) => {
    const { route, commands, queries, work, deciders, events, views, workers } = trace(method, path)
    const own = testsOf(route)
    const partTests = [commands, queries, work, deciders, views, workers].flat().flatMap(testsOf)
    const tests = [...new Set([...(own.length > 0 ? own : nearest(route)), ...partTests])]
    const decides = cell([...deciders, ...events], (file) =>
      deciders.includes(file) ? short(file) : eventsLabel(file),
    )
    return [
      `### \`${method.toUpperCase()} ${path}\``,
      '',
      ...item('Route', cell([route])),
      ...item('In order', path === chatPath ? '[a turn, from request to answer](a-turn.md)' : ''),
      ...item('Commands', cell(commands)),
      ...item('Queries and more', cell([...queries, ...work])),
      ...item(deciders.length > 0 ? 'Decides by' : 'Events', decides),
      ...item('Views', cell(views)),
      ...item('Workers', cell(workers)),
      ...item('Tests', firstTests(tests, mostTests)),
      '',
    ].join('\n')
  })
}

const coveredRows = covered.map(({ file, tests }) => row(link(file, file), firstTests(tests, 4)))

const renderPage = (contract: Contract): string => `# Find it in a minute

Made by \`test/docs/architecture.test.ts\` from what files import; \`UPDATE_DOCS=1\` writes it anew.

## From an operation to its tests

For every operation of \`/api/openapi.json\`:

- its route, and the commands and queries that it reaches;
- the deciders of the commands, with the events of their streams (of a query alone: the events that its views fold);
- the views that a query reads or an event of the commands changes, and the workers on those views;
- the tests of the route, then those of the other files.

The sections leave out the steps of every request: authentication ([order](../src/http/checks/order.ts)),
access ([find-access](../src/caches/find-access.ts)), delegation ([delegate](../src/security/delegate.ts)), payment
([require-subscription](../src/turns/begin/require-subscription.ts)), the wait for the views
([watermarks](../src/projector/watermarks.ts)) and the counts
([key-usage-meter](../src/metering/key-usage-meter.ts), [refusal-meter](../src/metering/refusal-meter.ts)).
[event-index](../projections/event-index.ts) and [transparency](../projections/transparency.ts) (the platform’s own:
[platform-transparency](../projections/platform-transparency.ts)) change with
every event. The sections of completions name the events of a running turn. Other sections that touch running turns name
[turns](../src/turns/run/turns.ts). [A turn](a-turn.md) and [an upload](an-upload.md) name the functions of a
completion, an upload and a search in the order in which they run.

${operationSections(contract).join('\n')}
## Files without a test of their own

A test is named after its file: \`<name>.test.ts\`, or \`<name>-….test.ts\` for one side of it, at the same place in
\`test/\`; \`test/support/tested.ts\` names the exceptions. These files have none: the tests nearest to
them are those of the files that use them.

${row('File', 'Nearest tests')}
|---|---|
${coveredRows.join('\n')}
`

t.test('every test is of a file, or of the system as a whole', async (t) => {
  t.strictSame(homeless, [], 'tests at paths that mirror no file')
  for (const [test, files] of Object.entries(together))
    for (const file of [test, ...files])
      t.ok(existsSync(file), `${file} is in test/support/tested.ts`)
})

t.test('every file with logic has a test, its own or that of a file that uses it', async (t) => {
  for (const { file, tests } of covered) t.ok(tests.length > 0, file)
})

t.test('the example of CONTRIBUTING.md is traced from its route to its tests', async (t) => {
  const trace = tracing(tree)('post', '/api/external/content/{content_id}/retry')
  t.strictSame(trace, {
    route: 'src/http/routes/contents.ts',
    commands: ['commands/reserve-content-credits.ts', 'commands/retry-content.ts'],
    queries: ['queries/find-storage.ts'],
    work: ['src/turns/begin/storage-quotas.ts'],
    deciders: ['src/domain/account/account.ts', 'src/domain/content/content.ts'],
    events: ['src/domain/account/events.ts', 'src/domain/content/events.ts'],
    views: ['projections/accounts.ts', 'projections/contents.ts', 'projections/storage.ts'],
    workers: [
      'src/workers/generate-content.ts',
      'src/workers/recover-runs.ts',
      'src/workers/release-reservations.ts',
    ],
  })
})

t.test(`${page} says where every operation is made`, async (t) => {
  const { http } = await startApp(t)
  const contract = (await http.inject('/api/openapi.json')).json()
  const text = renderPage(contract)
  if (process.env.UPDATE_DOCS) writeFileSync(page, text)
  else t.equal(readFileSync(page, 'utf8'), text, 'UPDATE_DOCS=1 writes it anew')
})
