import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/**
 * Runs tap over the compiled tests: a line for each file, in full only what failed, and why
 * something was skipped. Closes with the line `N passed, N failed, N skipped` (assertions). Exits as
 * tap does, and with 1 where nothing ran. Arguments name test files; none: all of them.
 */
const args = ['--reporter=tap', ...process.argv.slice(2)]
const tap = spawn('node_modules/.bin/tap', args, { stdio: ['ignore', 'pipe', 'inherit'] })
const exited = once(tap, 'exit')
const say = (text: string) => process.stdout.write(`${text}\n`)

const result = /^(?<not>not )?ok \d+(?: - (?<name>.*?))?(?: # (?<more>.*))?$/

/** Names of the subtests that a line is in, by depth; that of a file is the first. */
const within: string[] = []
/** What is to be shown of the present file, after the line of its own. */
let inside: string[] = []
/** Where the explanation of a result begins that is to be shown; undefined: in none. */
let margin: number | undefined
let totals = ''

/** A file, with what it holds; a failed one that holds no failure is explained itself. */
const onFile = (not: boolean, name: string, more: string) => {
  say(`${not ? 'FAILED' : 'ok'}  ${name}  ${more}`)
  const failed = inside.some((line) => line.startsWith('  FAILED'))
  for (const line of inside) say(line)
  inside = []
  margin = not && !failed ? 0 : undefined
}

const onTest = (depth: number, not: boolean, name: string, more: string) => {
  const isSubtest = within[depth] === name
  const path = [...within.slice(1, depth), name].join(' > ')
  const skipped = /^(?:skip|todo) ?(?<why>.*)$/i.exec(more)?.groups
  if (skipped) inside.push(`  skipped: ${path} (${skipped.why})`)
  margin = not && !skipped && !isSubtest ? depth * 4 : undefined
  if (margin !== undefined) inside.push(`  FAILED  ${path}`)
}

const onLine = (line: string): void => {
  const text = line.trimStart()
  const indent = line.length - text.length
  const depth = Math.floor(indent / 4)
  if (margin !== undefined && (indent > margin || text === '')) {
    const explained = line.slice(margin)
    if (margin === 0) say(explained)
    else if (text !== '') inside.push(`  ${explained}`)
    return
  }
  const subtest = /^# Subtest: (?<name>.*)$/.exec(text)?.groups?.name
  const found = result.exec(text)?.groups
  if (subtest) {
    within.length = depth
    within[depth] = subtest
  } else if (found) {
    const { not, name = '', more = '' } = found
    if (depth === 0) onFile(not !== undefined, name, more)
    else onTest(depth, not !== undefined, name, more)
    return
  } else if (text.startsWith('# {') && indent === 0) totals = text
  margin = undefined
}

for await (const line of createInterface({ input: tap.stdout })) onLine(line)
const [code] = await exited
const count = (what: string) => Number(totals.match(new RegExp(`\\b${what}: (\\d+)`))?.[1] ?? 0)
const passed = count('pass')
say(`${passed} passed, ${count('fail')} failed, ${count('skip')} skipped`)
process.exitCode = code === 0 && passed === 0 ? 1 : (code ?? 1)
