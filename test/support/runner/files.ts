import { readdirSync, statSync } from 'node:fs'
import { join, normalize, resolve } from 'node:path'

/**
 * Prefixes of the slowest files, slowest first, so that no process still runs one of them after the
 * others have finished.
 */
const longest = [
  'faults/damage',
  'faults/crashing-runs',
  'faults/few-handles',
  'faults/resume',
  'faults/retries',
  'faults/runs-at-once',
  'faults/soak',
  'app/stores-alike',
  'faults/attacks',
  'app/serve',
  'http/costliest',
  'browser/docs-page',
  'docs/guides',
  'http/fuzz',
  'security/watch-access',
  'faults/',
  'cli',
  'workers/generate-content',
  'http/routes/admin-feeds',
  'projector/verify',
  'rag/document-reader',
  'http/routes/rag-',
  'contract/',
  'browser/',
  'turns/erase/erase-contents',
  'rag/',
  'tools/',
  'adapters/eventstoredb/',
  'app/',
].map((prefix) => join('test', prefix))

/** What is counted in it grows while other files run beside it: it runs alone, after all others. */
const alone = join('test', 'turns/turn-budget')

export const runsAlone = (file: string): boolean => file.startsWith(alone)

const rank = (file: string): number => {
  const place = longest.findIndex((prefix) => file.startsWith(prefix))
  return place < 0 ? longest.length : place
}

const isTest = (file: string) => file.endsWith('.test.ts')

const within = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(isTest)
    .map((file) => join(folder, file))
    .toSorted()

/** Also of a compiled file, which is how an editor may name it. */
const sourceOf = (path: string) =>
  normalize(path)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts')

/** Test files, by their paths and those of folders; without any, all of them, the longest first. */
export const testFiles = (paths: readonly string[]): string[] => {
  if (paths.length === 0) return within('test').toSorted((a, b) => rank(a) - rank(b))
  const files = paths.map(sourceOf).flatMap((path) => {
    if (statSync(path).isDirectory()) return within(path)
    if (!isTest(path)) throw new Error(`not a test file: ${path}`)
    return [path]
  })
  return [...new Set(files)]
}

export const compiled = (file: string) => resolve('dist', file.replace(/\.ts$/, '.js'))
