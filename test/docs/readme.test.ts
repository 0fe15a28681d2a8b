import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { configFrom, variables } from '../../src/config.ts'
import { startApp } from '../support/server.ts'

const docs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => join('docs', name))
const pages = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs]
const text = (page: string) => readFileSync(page, 'utf8')
const each = (page: string, pattern: RegExp) =>
  [...text(page).matchAll(pattern)].map(([, match = '']) => match)

const overPages = (t: Test, check: (page: string) => void) => {
  for (const page of pages) check(page)
  t.ok(pages.length > 5)
}

t.test('every script is in package.json, and every command in the command line', async (t) => {
  const { scripts, bin } = JSON.parse(text('package.json'))
  const known = new Set([...Object.keys(scripts), 'ci', 'install', 'pack', 'publish', 'version'])
  const cli = text('src/cli.ts')
  overPages(t, (page) => {
    for (const name of each(page, /\bnpm (?:run )?([a-z][\w:-]*)/g))
      t.ok(known.has(name), `${page}: npm ${name}`)
    for (const name of each(page, /`(?:[A-Z_]+=\S+ )?(?:npx )?reprise ([a-z]+)/g))
      t.match(cli, new RegExp(`command\\(\\s*'${name}\\b`), `${page}: reprise ${name}`)
  })
  t.ok(existsSync(bin.reprise.replace('./dist/src/cli.js', 'src/cli.ts')))
})

t.test('every path exists', async (t) => {
  const folders = 'src|test|commands|queries|projections|docs|bench|\\.ci'
  const path = new RegExp(`(?<=[\`([])((?:${folders})/[\\w./-]*\\w)`, 'g')
  const alone = /`([\w.-]+\.(?:ts|mjs|json|yml|md|sh))`/g
  overPages(t, (page) => {
    for (const file of each(page, path)) t.ok(existsSync(file), `${page}: ${file}`)
    for (const file of each(page, alone))
      t.ok(existsSync(file) || existsSync(join(dirname(page), file)), `${page}: ${file}`)
  })
})

t.test('every address is one that the server has', async (t) => {
  const { http } = await startApp(t)
  await http.ready()
  const contract = (await http.inject('/api/openapi.json')).json()
  const routes = Object.keys(contract.paths).map(
    (route) => new RegExp(`^${route.replace(/\{\w+\}/g, '[^/]+')}$`),
  )
  const others = ['/docs', '/metrics', '/api/openapi.json', '/api/external/mcp']
  const isPrefix = (path: string) =>
    Object.keys(contract.paths).some((route) => route.startsWith(`${path}/`))
  const known = (path: string) =>
    others.includes(path) || routes.some((route) => route.test(path)) || isPrefix(path)
  overPages(t, (page) => {
    for (const address of each(page, /(\/api\/[\w./${}-]+|(?<=`)\/(?:docs|metrics)\b)/g))
      t.ok(known(address), `${page}: ${address}`)
  })
})

t.test('every variable is in docs/contract/configuration.md, with its default', async (t) => {
  const rows = [
    ...text('docs/contract/configuration.md').matchAll(/^\| `([A-Z_]+)` \| (?:`(.*?)`)? *\|/gm),
  ]
  const documented = new Map(rows.map(([, name = '', value]) => [name, value]))
  t.strictSame([...documented.keys()].toSorted(), [...variables].toSorted())
  const formatDefault = (value: unknown) => {
    if (typeof value === 'boolean') return value ? 'on' : 'off'
    return value === undefined || String(value) === '' ? undefined : String(value)
  }
  const defaults = new Map<string, unknown>(Object.entries(configFrom({})))
  for (const [name, value] of documented) t.equal(value, formatDefault(defaults.get(name)), name)
  for (const page of pages)
    for (const name of each(page, /`([A-Z]+(?:_[A-Z]+)+)`/g))
      t.ok(
        documented.has(name) || inProse.has(name) || name.startsWith('OTEL_'),
        `${page}: ${name}`,
      )
})

/**
 * Names in capitals that are no variables of the server. OTEL_ belongs to the packages of
 * OpenTelemetry, MALLOC_ to glibc.
 */
const inProse = new Set([
  'MALLOC_ARENA_MAX',
  'MALLOC_MMAP_THRESHOLD_',
  'MALLOC_TRIM_THRESHOLD_',
  'MASTER_KEY_NEXT',
  'REPRISE_URL',
  'TEST_JOBS',
  'PYTHON_CLIENTS',
  'SHOP_KEY',
  'REPRISE_ORGANIZATION',
  'REPRISE_API_KEY',
  'LLM_AGENT',
  'SUPER_ADMIN',
  'SEQUENTIAL_AGENT',
  'PARALLEL_AGENT',
  'LOOP_AGENT',
])
