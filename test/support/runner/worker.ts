import { createHook } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

/**
 * Runs test files one after another in this process, as the process that began it names them, and
 * writes TAP: a subtest for each file. What they share (Node's start, tap, the application's modules,
 * compiled code that is already fast) is most of the time that a process for each file would take.
 */
const fileTimeoutMs = 120_000
const lastHandleMs = 20_000

/**
 * tap follows every promise, to know of which test an error is that nobody catches: a tenth of all that the
 * tests take. Here it is kept from that, as such an error can only be of the one file that runs.
 */
const untraced = async <T>(load: () => Promise<T>): Promise<T> => {
  const hooks = Object.getPrototypeOf(createHook({}))
  const { enable } = hooks
  hooks.enable = function () {
    return this
  }
  try {
    return await load()
  } finally {
    hooks.enable = enable
  }
}

const { default: t } = await untraced(() => import('tap'))
const test = t.test.bind(t)
let file: Test = t
for (const uncaught of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(uncaught, (error) => file.threw(error))

/** What a file asks of the root test is asked of the file's own. */
const hooks = ['before', 'after', 'beforeEach', 'afterEach', 'teardown'] as const
for (const name of ['test', 'setTimeout', 'testdir', ...hooks] as const)
  Object.defineProperty(t, name, {
    value: (...args: unknown[]) => Reflect.apply(Reflect.get(file, name), file, args),
  })

/** tap lets go of the channel on which files are named. */
const waiting = setInterval(() => {}, lastHandleMs)

process.on('disconnect', () => process.exit(1))

/** Ends by itself when all is closed: a file that leaves something open fails the run. */
const end = () => {
  clearInterval(waiting)
  process.removeAllListeners('disconnect')
  process.disconnect()
  setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ')
    process.stderr.write(`still open ${lastHandleMs} ms after the last test: ${open}\n`)
    process.exit(1)
  }, lastHandleMs).unref()
}

type Asked = { name: string; module: string } | 'end'

process.on('message', (asked: Asked) => {
  if (asked === 'end') return end()
  const run = async (own: Test) => {
    file = own
    await import(pathToFileURL(asked.module).href)
  }
  void test(asked.name, { timeout: fileTimeoutMs }, run).then(() =>
    process.send?.({ done: asked.name }),
  )
})
