import t from 'tap'
import { pageFindings } from '../support/language/page-findings.ts'
import { sourceFindings } from '../support/language/source-findings.ts'

const kindsOf = (findings: readonly { kind: string }[]) => findings.map(({ kind }) => kind)

const words = (count: number) => `One ${'word '.repeat(count - 2)}more.`

const pages = [
  { title: 'a sentence of 30 words', text: words(30), kinds: [] },
  { title: 'a sentence of 31 words', text: words(31), kinds: ['sentences over 30 words'] },
  {
    title: 'a long sentence in a list',
    text: `- ${words(31)}`,
    kinds: ['sentences over 30 words'],
  },
  { title: 'a long row of a table', text: `| ${words(31)} |`, kinds: [] },
  { title: 'a long line of code', text: `\`\`\`sh\n${words(31)}\n\`\`\``, kinds: [] },
  {
    title: 'a clause as a subject',
    text: 'What a crash interrupts is found by the index.',
    kinds: ['clauses in place of a noun'],
  },
  { title: 'a question', text: 'What happens when a server is killed?', kinds: [] },
  {
    title: 'a word of no field',
    text: 'The next start goes on with its runs.',
    kinds: ["words of no field's documentation"],
  },
]

for (const { title, text, kinds } of pages)
  t.test(`in pages, counts ${kinds.length} kinds for ${title}`, async (t) => {
    t.strictSame(kindsOf(pageFindings('docs/architecture.md', text)), kinds)
  })

t.test('counts a decision over 500 words, and another page over 1,500', async (t) => {
  const text = (count: number) => 'Word. '.repeat(count)
  t.strictSame(pageFindings('docs/decisions/0014-bounds.md', text(500)), [])
  const decision = pageFindings('docs/decisions/0014-bounds.md', text(501))
  t.strictSame(kindsOf(decision), ['decisions over 500 words'])
  t.strictSame(pageFindings('docs/architecture.md', text(1_500)), [])
  t.strictSame(kindsOf(pageFindings('docs/architecture.md', text(1_501))), [
    'pages over 1,500 words',
  ])
  t.strictSame(pageFindings('bench/NOTES.md', text(1_501)), [])
})

const lines = 'lines in src, commands, queries and projections'

const sources = [
  { title: 'a participle as a name', text: 'const found = 1', kind: 'names that name a situation' },
  {
    title: 'a name that begins with a participle',
    text: 'const foundValue = 1',
    kind: 'names that begin with such a word',
  },
  { title: 'a noun as a name', text: 'const result = 1', kind: undefined },
  { title: 'an imperative as a name', text: 'const tellClients = () => 1', kind: undefined },
  {
    title: 'a comment line of 101 columns',
    text: `// ${'x'.repeat(98)}`,
    kind: 'comment lines over 100 columns',
  },
  {
    title: 'a comment with a clause',
    text: '/** In order: what a turn appends is stored. */',
    kind: 'comments and test titles with such wording',
  },
  {
    title: 'a test for a promise',
    text: 'const isLate = (value: unknown) => value instanceof Promise',
    kind: 'value-or-promise tests',
  },
  {
    title: 'a function of 61 lines',
    text: `const run = () => {\n${'  step()\n'.repeat(59)}}`,
    kind: 'functions over 60 lines',
  },
  {
    title: 'a factory of 61 lines',
    text: `const part = () => {\n${'  step()\n'.repeat(58)}  return { run }\n}`,
    kind: undefined,
  },
]

for (const { title, text, kind } of sources)
  t.test(`in sources, counts ${kind ?? 'nothing'} for ${title}`, async (t) => {
    const kinds = kindsOf(sourceFindings('src/a.ts', text))
    t.strictSame(kinds, kind ? [kind, lines] : [lines])
  })

t.test('counts a test title with a clause', async (t) => {
  const text = "t.test('what a client sends is refused', () => {})"
  const kinds = kindsOf(sourceFindings('test/a.test.ts', text))
  t.strictSame(kinds, ['comments and test titles with such wording'])
})
