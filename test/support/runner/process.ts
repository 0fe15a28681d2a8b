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
 * A process that runs test files, one after another. `apart`: what it writes to stderr is dropped, and
 * processes that it has started are killed with it.
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
  const gone = Promise.all([once(child, 'exit'), read()]).then(([[code, signal]]) => code ?? signal)
  let ended = false
  void gone.then(() => {
    ended = true
  })

  /** A file that the process did not live to report has failed. */
  const run = async (name: string, module: string): Promise<void> => {
    // tap sends messages of its own.
    const done = ([message]: [unknown]) => Object(message).done === name
    const answered = firstValueFrom(
      (fromEvent(child, 'message') as Observable<[unknown]>).pipe(filter(done), timeout(silentMs)),
    )
    child.send({ name, module })
    await Promise.race([answered.catch(() => child.kill('SIGKILL')), gone])
    if (!ended || reported.has(name)) return
    counts.failed++
    say(`FAILED  ${name}  its process ended with ${await gone}`)
  }

  /** How many assertions passed; that the process could not end, or was not well, is a failure. */
  const close = async (): Promise<Counts> => {
    if (child.connected) child.send('end')
    const code = await gone
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

  return { run, close, alive: () => !ended, kill }
}
