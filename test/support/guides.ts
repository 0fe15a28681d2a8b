import { readFileSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Test } from 'tap'

/** The blocks of a page in a language. */
export const blocksOf = (page: string, language: string): string[] =>
  [...readFileSync(page, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(
    ([, block = '']) => block,
  )

/** The commands of a page, in order; one that is refused ends them. */
export const scriptOf = (page: string): string =>
  [
    'set -eu',
    'curl() { command curl --fail-with-body "$@"; }',
    // Servers that it started.
    `trap 'kill -9 "$SERVER" 2>/dev/null || true' EXIT`,
    'SERVER=',
    ...blocksOf(page, 'sh'),
  ].join('\n')

/** A folder where commands see the project's own as they are, and leave their files apart. */
export const guideFolder = (t: Test): string => {
  const cwd = t.testdir()
  for (const name of ['dist', 'docs', 'node_modules'])
    symlinkSync(join(process.cwd(), name), join(cwd, name))
  return cwd
}

/** A port that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
