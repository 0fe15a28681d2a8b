import { parentPort, Worker } from 'node:worker_threads'

/**
 * A message of a thread or process to its pool: it can work, an answer, or the error of its work.
 * `outputBytes`: the bytes on a process's standard output that belong to the answer.
 */
export type FromWorker<Answer> =
  | { up: true }
  | { answer: Answer; outputBytes?: number }
  | { threw: string }

/** `output`, of a process: bytes that go with the answer. */
type Done<Answer> = {
  answer: Answer
  transfer?: readonly ArrayBuffer[]
  output?: Uint8Array | undefined
}

type Work<Request, Answer> = (request: Request) => Done<Answer> | Promise<Done<Answer>>

type Serving<Request, Answer> = {
  on(work: (request: Request) => Promise<void>): void
  send(message: FromWorker<Answer>, transfer?: readonly ArrayBuffer[]): void
}

/** In a process: it ends with the one that started it, also in the middle of work. */
const inProcess = <Request, Answer>(): Serving<Request, Answer> => {
  process.once('disconnect', () => process.exit())
  const lifeMs = Number(process.argv[2])
  const late = `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${lifeMs})`
  new Worker(late, { eval: true }).unref()
  return {
    on: (work) => process.on('message', work),
    send: (message) => process.send?.(message),
  }
}

/** The other end of a `workerPool`: works on one task at a time. */
export const serveTasks = <Request, Answer>(work: Work<Request, Answer>): void => {
  const port = parentPort
  const { on, send }: Serving<Request, Answer> = port
    ? {
        on: (take) => port.on('message', take),
        send: (message, transfer = []) => port.postMessage(message, transfer),
      }
    : inProcess()
  on(async (request) => {
    try {
      const { answer, transfer, output } = await work(request)
      if (output) process.stdout.write(output)
      send(output ? { answer, outputBytes: output.length } : { answer }, transfer)
    } catch (error) {
      send({ threw: String(error) })
    }
  })
  send({ up: true })
}
