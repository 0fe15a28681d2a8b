import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { bundle } from './runner/bundle.ts'
import { check, checks } from './runner/checks.ts'
import { compiled, runsAlone, testFiles } from './runner/files.ts'
import { testProcess } from './runner/process.ts'
import type { Counts } from './runner/report.ts'
import { temporary } from './runner/temporary.ts'

/**
 * Runs compiled tests in a few processes. Prints a line for each file, failures in full, the
 * reasons of skipped tests, and finally `N passed, N failed, N skipped` (assertions). Exits with 1
 * if any failed or nothing ran.
 *
 * Arguments are test files or folders: `test/http/routes/chat.test.ts`. Without arguments it runs
 * all and the checks of the sources; with `--checks` only the checks. `--grep=/^error /` selects
 * tests.
 */
const say = (text: string) => process.stdout.write(`${text}\n`)
const args = process.argv.slice(2)
const paths = args.filter((arg) => !arg.startsWith('--'))
const onlyChecks = args.includes('--checks')
const grep = args.find((arg) => arg.startsWith('--grep='))?.slice('--grep='.length)

const toCheck = paths.length === 0 && !grep ? [...checks] : []
const files = onlyChecks ? [] : testFiles(paths)
const { path: TMPDIR, remove } = temporary()
const bundled = toCheck.length > 0 && files.length > 0 ? bundle() : undefined
const opensConsole = files.some((file) => file.startsWith('test/console/browser/'))
/** Once before all tests; each process of them finds it fresh, or says why it cannot be built. */
const consoleBuilt =
  process.env.TESTS === 'full' && opensConsole
    ? once(
        spawn(process.execPath, ['console/build.mjs', '--if-stale'], { stdio: 'ignore' }),
        'exit',
      )
    : undefined
const env = {
  ...process.env,
  TMPDIR,
  TAP_TIMEOUT: '0',
  // A line for each depth: any file, and tests of the name.
  ...(grep ? { TAP_GREP: `/./\n${grep}` } : {}),
  ...(bundled ? { TEST_BUNDLE: bundled.folder } : {}),
}
const total: Counts = { passed: 0, failed: 0, skipped: 0 }
const add = (counts: Counts) => {
  for (const [what, n] of Object.entries(counts) as [keyof Counts, number][]) total[what] += n
}

const running = new Set<ReturnType<typeof testProcess>>()
const stop = (signal: NodeJS.Signals) => {
  // One that is in an endless loop does not hear of it.
  for (const tests of running) tests.kill()
  remove()
  bundled?.remove()
  process.kill(process.pid, signal)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

/** One file after another until none is left, in one process unless it breaks. */
const runAll = async (files: string[]) => {
  let tests: ReturnType<typeof testProcess> | undefined
  for (let file = files.shift(); file; file = files.shift()) {
    if (tests && !tests.alive()) {
      add(await tests.close())
      tests = undefined
    }
    tests ??= testProcess(env, say)
    running.add(tests)
    await tests.run(file, compiled(file))
  }
  if (tests) add(await tests.close())
}

const together = files.filter((file) => !runsAlone(file))
const work = async () => {
  for (let command = toCheck.shift(); command; command = toCheck.shift())
    total[(await check(command, say)) ? 'passed' : 'failed']++
  await Promise.all([bundled?.written, consoleBuilt])
  await runAll(together)
}

/** Twice as many as there are processors, since files often wait for timers and child processes. */
const jobs = Number(process.env.TEST_JOBS ?? 2 * availableParallelism())
try {
  await Promise.all(Array.from({ length: jobs }, work))
  await runAll(files.filter(runsAlone))
} finally {
  remove()
  bundled?.remove()
}
say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
