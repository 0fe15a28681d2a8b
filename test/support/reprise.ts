import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

export const cli = new URL('../../src/cli.js', import.meta.url).pathname

/** One run of the command; what it said and its exit code. */
export const reprise = async (args: string, env: Record<string, string> = {}) => {
  const child = spawn(process.execPath, [cli, ...args.split(' ')], {
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
