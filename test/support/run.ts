import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs tap over the compiled tests, says what was skipped and why, and closes with the line
 * `N passed, N failed, N skipped` (assertions). Exits as tap does, and with 1 where nothing ran.
 * Arguments name test files; none: all of them.
 */
const folder = await mkdtemp(join(tmpdir(), 'reprise-tap-'))
const raw = join(folder, 'all.tap')
const args = ['--reporter=dot', `--output-file=${raw}`, ...process.argv.slice(2)]
const tap = spawn('node_modules/.bin/tap', args, { stdio: ['ignore', 'inherit', 'inherit'] })
const [code] = await once(tap, 'exit')
const lines = (await readFile(raw, 'utf8').catch(() => '')).split('\n')
await rm(folder, { recursive: true })

const say = (text: string) => process.stdout.write(`${text}\n`)
for (const line of lines) {
  const skipped = line.match(/^\s*ok \d+ (?:- )?(?<name>.*?) # SKIP ?(?<why>.*)$/i)?.groups
  if (skipped) say(`skipped: ${skipped.name} (${skipped.why})`)
}
const totals = lines.findLast((line) => line.startsWith('# {')) ?? ''
const count = (what: string) => Number(totals.match(new RegExp(`\\b${what}: (\\d+)`))?.[1] ?? 0)
say(`${count('pass')} passed, ${count('fail')} failed, ${count('skip')} skipped`)
process.exitCode = code === 0 && count('pass') === 0 ? 1 : (code ?? 1)
