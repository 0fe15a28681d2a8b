import { parentPort, Worker } from 'node:worker_threads'

/**
 * What a thread or process tells its pool: that it can work, an answer, or what its work threw. `written`: so
 * many bytes come on a process's standard output with the answer.
 */
export type FromWorker<Answer> =
  | { up: true }
  | { answer: Answer; written?: number }
  | { threw: string }

/** `output`, of a process: bytes that go with the answer. */
type Done<Answer> = {
  answer: Answer
  transfer?: readonly ArrayBuffer[]
  output?: Uint8Array | undefined
}

type Work<Asked, Answer> = (asked: Asked) => Done<Answer> | Promise<Done<Answer>>

type Serving<Asked, Answer> = {
  on(work: (asked: Asked) => Promise<void>): void
  tell(message: FromWorker<Answer>, transfer?: readonly ArrayBuffer[]): void
}

/** In a process: it ends with the one that started it, also in the middle of work. */
const inProcess = <Asked, Answer>(): Serving<Asked, Answer> => {
  process.once('disconnect', () => process.exit())
  const lifeMs = Number(process.argv[2])
  const late = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${lifeMs})`
  new Worker(late, { eval: true }).unref()
  return {
    on: (work) => process.on('message', work),
    tell: (message) => process.send?.(message),
  }
}

/** The other end of a `workerPool`: works on one task at a time. */
export const serveTasks = <Asked, Answer>(work: Work<Asked, Answer>): void => {
  const port = parentPort
  const { on, tell }: Serving<Asked, Answer> = port
    ? {
        on: (take) => port.on('message', take),
        tell: (message, transfer = []) => port.postMessage(message, transfer),
      }
    : inProcess()
  on(async (asked) => {
    try {
      const { answer, transfer, output } = await work(asked)
      if (output) process.stdout.write(output)
      tell(output ? { answer, written: output.length } : { answer }, transfer)
    } catch (error) {
      tell({ threw: String(error) })
    }
  })
  tell({ up: true })
}
