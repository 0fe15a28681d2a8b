import { createHook } from 'node:async_hooks'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'

/**
 * Runs the test files that the parent process sends, one after another, and writes TAP with a
 * subtest for each file. They share the start of Node, tap, the application's modules and optimized
 * code, which would be most of the time of a process for each file.
 */
const fileTimeoutMs = 120_000
const lastHandleMs = 20_000

/**
 * tap tracks every promise to attribute uncaught errors to tests, a tenth of the tests' time. Here
 * only one file runs at a time, so an error can only come from it, and the tracking is off.
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

type FileTask = { name: string; module: string } | 'end'

process.on('message', (task: FileTask) => {
  if (task === 'end') return end()
  const run = async (own: Test) => {
    file = own
    await import(pathToFileURL(task.module).href)
  }
  void test(task.name, { timeout: fileTimeoutMs }, run).then(() =>
    process.send?.({ done: task.name }),
  )
})
