import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { text } from 'node:stream/consumers'

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))

/**
 * What is checked of the sources besides their types, which the compiler has checked before: the
 * scripts `check:…` of package.json.
 */
export const checks = Object.keys(scripts).filter((name) => name.startsWith('check:'))

/** Runs one of them; says what it found, if it found anything. */
export const check = async (name: string, say: (text: string) => void): Promise<boolean> => {
  const started = performance.now()
  const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  const child = spawn(scripts[name], {
    shell: true,
    env: { ...process.env, PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [[code], ...outputs] = await Promise.all([
    once(child, 'close'),
    text(child.stdout),
    text(child.stderr),
  ])
  const ok = code === 0
  say(`${ok ? 'ok' : 'FAILED'}  ${name}  time=${Math.round(performance.now() - started)}ms`)
  if (!ok) say(outputs.join('\n').trim())
  return ok
}
