import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { filter, firstValueFrom, fromEvent, type Observable, timeout } from 'rxjs'
import type { Counts } from './report.ts'
import { report } from './report.ts'

const worker = new URL('worker.js', import.meta.url).pathname

/** More than the longest of all files may take. */
const silentMs = 660_000

/**
 * A process that runs test files one after another. `apart` drops its stderr, and kills its child
 * processes with it.
 */
export const testProcess = (env: NodeJS.ProcessEnv, say: (text: string) => void, apart = false) => {
  const { line, counts, reported } = report(say)
  const stdio = ['ignore', 'pipe', apart ? 'ignore' : 'inherit', 'ipc'] as const
  const child = fork(worker, { env, stdio: [...stdio], detached: apart })
  const { stdout } = child
  if (!stdout) throw new Error('a test process without output')
  const read = async () => {
    for await (const text of createInterface({ input: stdout })) line(text)
  }
  const exit = Promise.all([once(child, 'exit'), read()]).then(([[code, signal]]) => code ?? signal)
  let isOver = false
  void exit.then(() => {
    isOver = true
  })

  /** A file that the process did not live to report has failed. */
  const run = async (name: string, module: string): Promise<void> => {
    // tap sends messages of its own.
    const done = ([message]: [unknown]) => Object(message).done === name
    const reply = firstValueFrom(
      (fromEvent(child, 'message') as Observable<[unknown]>).pipe(filter(done), timeout(silentMs)),
    )
    child.send({ name, module })
    await Promise.race([reply.catch(() => child.kill('SIGKILL')), exit])
    if (!isOver || reported.has(name)) return
    counts.failed++
    say(`FAILED  ${name}  its process ended with ${await exit}`)
  }

  /** How many assertions passed; that the process could not end, or was not well, is a failure. */
  const close = async (): Promise<Counts> => {
    if (child.connected) child.send('end')
    const code = await exit
    if (code !== 0 && counts.failed === 0) {
      counts.failed++
      say(`FAILED  a process of tests ended with ${code}`)
    }
    return counts
  }

  const kill = () => {
    if (!apart || child.pid === undefined) return child.kill('SIGKILL')
    // The process itself may be gone, and others of its group not.
    try {
      return process.kill(-child.pid, 'SIGKILL')
    } catch {
      return false
    }
  }

  return { run, close, alive: () => !isOver, kill }
}
