import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.env.TEST_BUNDLE

/** Fewer collections while a server starts: a fifth of the CPU time of its start. */
export const quickStart = ['--min-semi-space-size=32', '--initial-old-space-size=128']

const compiled = (name: string): string =>
  fileURLToPath(new URL(`../../src/${name}`, import.meta.url))

/** A script of `src`: in the runner's bundle, if there is one, and no coverage is taken. */
export const serverScript = (name: 'main.js' | 'cli.js'): string =>
  folder && !process.env.NODE_V8_COVERAGE ? join(folder, name) : compiled(name)

/**
 * How a server starts that a test reaches over HTTP. In the bundle it takes no coverage: tests kill
 * most of these servers, which then write none. `TEST_BUNDLE: ''` starts the compiled files.
 */
export const serverProcess = ({ TEST_BUNDLE }: Record<string, string>) =>
  folder && TEST_BUNDLE !== ''
    ? { script: join(folder, 'main.js'), env: { NODE_V8_COVERAGE: '' } }
    : { script: compiled('main.js'), env: {} }
