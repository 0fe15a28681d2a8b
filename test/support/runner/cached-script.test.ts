import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { wrapper } from './cached-script.ts'

const module = new URL('cached-script.js', import.meta.url)

const script = `#!/usr/bin/env node
${wrapper.start}
const { basename } = require('node:path')
exports.answer = () => basename(__filename)
process.stdout.write(module.exports.answer())
${wrapper.end}`

t.test('a script runs alike without and with its code cache, which its first end leaves', (t) => {
  const folder = t.testdir({ 'script.cjs': script })
  const path = join(folder, 'script.cjs')
  const program = `import { runCached } from '${module}'; runCached(${JSON.stringify(path)})`
  const run = (...flags: string[]) =>
    String(execFileSync(process.execPath, [...flags, '--input-type=module', '-e', program]))
  const caches = () => readdirSync(folder).filter((name) => name.endsWith('.cache'))
  t.equal(run(), 'script.cjs')
  const [first = ''] = caches()
  const { mtimeMs } = statSync(join(folder, first))
  t.equal(run(), 'script.cjs')
  t.strictSame(caches(), [first])
  t.equal(statSync(join(folder, first)).mtimeMs, mtimeMs, 'the second run has used it')
  t.equal(run('--max-lazy'), 'script.cjs')
  t.equal(caches().length, 2, 'other flags have a cache of their own')
  t.end()
})
