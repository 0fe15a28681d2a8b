import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

/**
 * Runs test files again after every change that compiles. Arguments are files or folders; without
 * any, it runs all tests and no checks.
 */
const [, , ...cliPaths] = process.argv
const paths = cliPaths.length > 0 ? cliPaths : ['test']
const run = new URL('run.js', import.meta.url).pathname
const say = (text: string) => process.stdout.write(`${text}\n`)

let running: ReturnType<typeof spawn> | undefined

const again = async () => {
  const before = running
  if (before?.exitCode === null && before.kill('SIGTERM')) await once(before, 'exit')
  running = spawn(process.execPath, [run, ...paths], { stdio: 'inherit' })
}

const args = [
  'node_modules/typescript/bin/tsc',
  '--watch',
  '--preserveWatchOutput',
  '--pretty',
  'false',
]
const compiler = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
for await (const line of createInterface({ input: compiler.stdout })) {
  if (line.includes('Found 0 errors')) await again()
  else if (line.includes('error TS')) say(line)
}
