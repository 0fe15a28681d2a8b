import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { startProcess } from '../support/start-process.ts'
import { CommandFailed } from './command-failed.ts'

/** How lmdb ends a process that reads a damaged page. */
const deadly = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']

/** The end of this command in another process. */
const runAgain = async () => {
  const [script = '', ...args] = process.argv.slice(1)
  const stdio = ['inherit', 'inherit', 'inherit', 'ipc'] as const
  const options = { args, stdio: [...stdio] }
  const child = startProcess(pathToFileURL(script), options, () => undefined)
  if (!child) throw new CommandFailed('there is no memory for another process')
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => child.kill(name))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal }
}

type Options = {
  dataDir: string
  /** Called when a damaged page has ended the process. */
  onDamage(): Promise<void>
}

/**
 * Runs this command once more in a process of its own, where `work` runs it: a server that it runs
 * beside comes first, and lmdb ends a process that reads a damaged page.
 * @throws CommandFailed
 */
export const inOwnProcess = async (
  work: () => Promise<void>,
  { dataDir, onDamage }: Options,
): Promise<void> => {
  if (process.connected) {
    const leave = () => process.exit(1)
    process.once('disconnect', leave)
    await work()
    process.off('disconnect', leave)
    process.disconnect()
    return
  }
  const { code, signal } = await runAgain()
  if (!deadly.includes(signal ?? '')) {
    process.exitCode = code ?? 1
    return
  }
  await onDamage()
  throw new CommandFailed(
    `the log in ${dataDir} is damaged: lmdb ended with ${signal}. The next start says where`,
  )
}
