import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import ts from 'typescript'
import { sources } from './imports.ts'
import { type Mutation, mutationsOf, sampleOf } from './mutations/points.ts'
import { testsOf } from './mutations/tests-of.ts'
import { compiled } from './runner/files.ts'
import { testProcess } from './runner/process.ts'
import { temporary } from './runner/temporary.ts'

/**
 * Shows which small changes of the code no test notices. Makes one after another in a copy of
 * `dist`, runs the tests that may notice it until one fails, and prints each change that survived.
 *
 * `--area domain` (default: all areas) tries `--count 30` of its changes, chosen by `--seed 1`.
 * `--file src/domain/plan.ts` tries all changes of a file, with `:12` those of a line. For each
 * change, test files begin during `--seconds 60`. A test file that takes a minute fails.
 */
const areas: Readonly<Record<string, string>> = {
  domain: 'src/domain/',
  commands: 'commands/',
  projections: 'projections/',
  queries: 'queries/',
  'http/checks': 'src/http/checks/',
  security: 'src/security/',
  'event-sourcing': 'src/event-sourcing/',
  projector: 'src/projector/',
  turns: 'src/turns/',
  agents: 'src/agents/',
  tools: 'src/tools/',
}

const { values } = parseArgs({
  options: {
    area: { type: 'string', multiple: true, default: Object.keys(areas) },
    file: { type: 'string' },
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    seconds: { type: 'string', default: '60' },
  },
})
const say = (text: string) => process.stdout.write(`${text}\n`)
const seed = Number(values.seed)
const count = Number(values.count)
const budgetMs = Number(values.seconds) * 1000
const fileMs = 60_000

const program = sources()
const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile)
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd())
const compilerOptions = { ...options, module: ts.ModuleKind.ESNext, sourceMap: false }
const compile = (source: string): string =>
  ts.transpileModule(source, { compilerOptions }).outputText

/** All changes of a file that its compiled code shows. */
const mutationsIn = (file: string) => {
  const source = program.textOf(file)
  const apply = ({ start, end, text }: Mutation) =>
    compile(source.slice(0, start) + text + source.slice(end))
  return mutationsOf(source).map((mutation) => ({ file, mutation, code: () => apply(mutation) }))
}
type Change = ReturnType<typeof mutationsIn>[number]

const sampleOfArea = (area: string): Change[] => {
  const folder = areas[area]
  if (folder === undefined) throw new Error(`no area is called ${area}`)
  const files = program.files.filter((file) => file.startsWith(folder))
  return sampleOf(files.flatMap(mutationsIn), seed, count)
}

const changesOfFile = (place: string): Change[] => {
  const [file = '', line] = place.split(':')
  const all = mutationsIn(file)
  return line === undefined ? all : all.filter(({ mutation }) => mutation.line === Number(line))
}

const batches = values.file
  ? [{ area: values.file, changes: changesOfFile(values.file) }]
  : values.area.map((area) => ({ area, changes: sampleOfArea(area) }))

/** A copy of the project whose compiled code alone is its own. */
const { path: TMPDIR, remove } = temporary()
const copy = join(TMPDIR, 'project')
cpSync('dist', join(copy, 'dist'), { recursive: true })
for (const entry of readdirSync('.'))
  if (entry !== 'dist') symlinkSync(resolve(entry), join(copy, entry))
process.chdir(copy)

let running: ReturnType<typeof testProcess> | undefined
const stop = (signal: NodeJS.Signals) => {
  running?.kill()
  remove()
  process.kill(process.pid, signal)
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)

/** Runs test files until one fails, and tells which. */
const failureOf = async (files: readonly string[]) => {
  let failure: string | undefined
  let ran = 0
  let current: string | undefined
  const listen = (text: string) => {
    const name = /^FAILED {2}(?<name>.+?)(?: {2}|$)/.exec(text)?.groups?.name
    if (name !== undefined) failure ??= files.includes(name) ? name : current
  }
  const tests = testProcess({ ...process.env, TMPDIR, TAP_TIMEOUT: '0' }, listen, true)
  running = tests
  const end = performance.now() + budgetMs
  try {
    for (const file of files) {
      current = file
      const late = setTimeout(tests.kill, fileMs)
      await tests.run(file, compiled(file))
      clearTimeout(late)
      ran++
      if (failure !== undefined || performance.now() > end) break
    }
    // The results of the last file may not be read yet.
    if (failure === undefined) await tests.close()
    return { failure, ran }
  } finally {
    tests.kill()
  }
}

/** Whether a test file passes without a change. */
const soundness = new Map<string, Promise<boolean>>()
const isSound = (file: string): Promise<boolean> => {
  const known =
    soundness.get(file) ?? failureOf([file]).then(({ failure }) => failure === undefined)
  soundness.set(file, known)
  return known
}

const candidates = testsOf(program)

/** The first test file that fails because of a change. */
const noticeOf = async ({ file, code }: Change) => {
  const module = compiled(file)
  const original = readFileSync(module)
  const unsound = new Set<string>()
  for (;;) {
    const files = candidates(file).filter((test) => !unsound.has(test))
    writeFileSync(module, code())
    const { failure, ran } = await failureOf(files).finally(() => writeFileSync(module, original))
    if (failure === undefined) return { noticed: false, ran, of: files.length }
    if (await isSound(failure)) return { noticed: true, ran, of: files.length }
    say(`fails without a change: ${failure}`)
    unsound.add(failure)
  }
}

const rows: string[] = []
try {
  for (const { area, changes } of batches) {
    let noticed = 0
    for (const change of changes) {
      const result = await noticeOf(change)
      if (result.noticed) noticed++
      else {
        const { line, change: text } = change.mutation
        say(`survived  ${change.file}:${line}  ${text}  (${result.ran} of ${result.of} test files)`)
      }
    }
    const share = Math.round((100 * noticed) / Math.max(1, changes.length))
    const row = `${area.padEnd(16)} noticed ${noticed} of ${changes.length}, ${share} %`
    say(row)
    rows.push(row)
  }
} finally {
  remove()
}
if (rows.length > 1) say(['', ...rows].join('\n'))
