import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { serverScript } from './server-script.ts'

export const cli = serverScript('cli.js')

/** One run of the command, which another one may start; what it said and its exit code. */
export const reprise = async (
  args: string,
  env: Record<string, string> = {},
  by: readonly string[] = [],
) => {
  const [command = '', ...rest] = [...by, process.execPath, cli, ...args.split(' ')]
  const child = spawn(command, rest, {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code, out, err }
}
