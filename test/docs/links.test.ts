import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, normalize, sep } from 'node:path'
import t from 'tap'

/**
 * The files of a folder, without installed packages: docs/performance.md runs
 * `npm install --prefix bench`.
 */
const below = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name) && !name.split(sep).includes('node_modules'))
    .map((name) => join(folder, name))

const pages = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  'bench/NOTES.md',
  ...below('docs', /\.md$/),
]
const sources = ['src', 'commands', 'queries', 'projections', 'bench', 'test'].flatMap((folder) =>
  below(folder, /\.(?:ts|mjs|js)$/),
)
const text = (path: string) => readFileSync(path, 'utf8')

/** The names of a page's headings in links, as GitHub makes them. */
const anchorsOf = (page: string): Set<string> => {
  const prose = text(page).replace(/^```.*?^```/gms, '')
  const anchors = new Set<string>()
  for (const [, heading = ''] of prose.matchAll(/^#+ (.+)$/gm)) {
    const name = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-')
    let anchor = name
    for (let n = 1; anchors.has(anchor); n++) anchor = `${name}-${n}`
    anchors.add(anchor)
  }
  return anchors
}

const isThere = (page: string, anchor: string | undefined): boolean =>
  existsSync(page) && (!anchor || anchorsOf(page).has(anchor))

t.test('installed packages are not read', async (t) => {
  const folder = t.testdir({
    'ours.ts': '',
    node_modules: { 'theirs.ts': '' },
    below: { node_modules: { theirs: { 'index.ts': '' } }, 'ours-too.ts': '' },
  })
  const files = below(folder, /\.ts$/).map((file) => basename(file))
  t.strictSame(files.sort(), ['ours-too.ts', 'ours.ts'])
})

t.test('every link leads to a page, and to a heading of it', async (t) => {
  for (const page of pages)
    for (const [, link = ''] of text(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      t.ok(isThere(target, anchor), `${page}: ${link}`)
    }
  t.ok(pages.length > 5)
})

t.test('every page is in an index', async (t) => {
  const indexes = ['docs/README.md', 'docs/contract/README.md', 'docs/guides/README.md']
  const listed = indexes.flatMap((index) =>
    [...text(index).matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) =>
      normalize(join(dirname(index), link)),
    ),
  )
  for (const page of below('docs', /\.md$/))
    if (!page.startsWith('docs/decisions/') && page !== 'docs/README.md')
      t.ok(listed.includes(page), page)
  t.ok(listed.includes('docs/decisions'))
})

t.test('every page that the code cites is there, with the heading', async (t) => {
  const citation = /\bdocs\/([\w./-]+\.md)(?:#([\w-]+))?/g
  for (const source of sources)
    for (const [cited, page = '', anchor] of text(source).matchAll(citation))
      t.ok(isThere(join('docs', page), anchor), `${source}: ${cited}`)
  t.ok(sources.length > 100)
})

/** Files that may cite what is not in the repository. */
const allowed: readonly string[] = []

t.test('no comment cites a document that the reader does not have', async (t) => {
  const elsewhere = /decisions,? sections? \d|\bexternal API[,:)]|\((?:Limits|Authentication)[,)]/i
  const citing = sources.filter((source) =>
    text(source)
      .split('\n')
      .some((line) => /^\s*(?:\*|\/\/|\/\*)/.test(line) && elsewhere.test(line)),
  )
  t.strictSame(citing, allowed)
})
