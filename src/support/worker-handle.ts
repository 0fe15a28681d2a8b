import { readFileSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { FromWorker } from './serve-tasks.ts'
import { startProcess } from './start-process.ts'

/**
 * Why a task has no result: it exceeded its time or memory, its worker died, its pool closed, or no
 * worker could be started for lack of file handles or memory (`start`: try again later).
 */
export type WorkFault = 'time' | 'memory' | 'crash' | 'closed' | 'start'

export class WorkFailed extends Error {
  override readonly name = 'WorkFailed'
  readonly fault: WorkFault
  constructor(fault: WorkFault, message: string = fault) {
    super(message)
    this.fault = fault
  }
}

type Parts = readonly Uint8Array[]

type Listeners<Answer> = {
  /** `output`: the bytes that a process has written with its answer. */
  onMessage(message: FromWorker<Answer>, output: Parts): void
  /** The worker has ended by itself. */
  onLost(error: WorkFailed): void
}

export type Input = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A thread or process that works on one task at a time. */
export type WorkerHandle<Request> = {
  /**
   * `input`, of a process: what it reads from its standard input, a part at a time. Rejects with
   * what that throws.
   */
  post(request: Request, transfer: readonly ArrayBuffer[], input?: Input): Promise<void>
  /** All of its memory, in MB; undefined where it is not known. */
  resident(): number | undefined
  /** Whether it keeps this process alive. */
  holds(alive: boolean): void
  end(): Promise<unknown>
}

type Options = {
  /** The compiled script, which calls `serveTasks`. */
  script: URL
  /** The largest heap, in MB. */
  heapMb: number
  /** It ends itself after this long, should this process be gone. */
  lifeMs: number
  data?: unknown
}

const threadFaults: Readonly<Record<string, WorkFault>> = {
  ERR_WORKER_OUT_OF_MEMORY: 'memory',
  ERR_WORKER_INIT_FAILED: 'start',
}

const notStarted: WorkerHandle<unknown> = {
  post: async () => undefined,
  resident: () => undefined,
  holds: () => undefined,
  end: async () => undefined,
}

/**
 * The process's own `--max-semi-space-size` replaces a thread's limit: after a lot of work a thread
 * would keep 64 MB for what is short-lived. V8 reads the option when a heap is made, so the heap of
 * this thread stays as it is.
 */
const limitThreads = (): void => setFlagsFromString('--max-semi-space-size=0')

/**
 * A thread. It starts quickly and is ended when its heap is full. V8 gives it 16 MB more to end in:
 * a larger single allocation then ends this whole process. So it is for work that cannot get there.
 */
export const threadWorker = <Request, Answer>(
  { script, heapMb, data }: Options,
  { onMessage, onLost }: Listeners<Answer>,
): WorkerHandle<Request> => {
  const options = {
    workerData: data,
    env: {},
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
  }
  let worker: Worker
  limitThreads()
  try {
    worker = new Worker(script, options)
  } catch (error) {
    // The system has no thread left: a limit of processes, or of memory.
    setImmediate(onLost, new WorkFailed('start', String(error)))
    return notStarted
  }
  worker
    .on('message', (message: FromWorker<Answer>) => onMessage(message, []))
    .once('error', (error: NodeJS.ErrnoException) =>
      onLost(new WorkFailed(threadFaults[error.code ?? ''] ?? 'crash', String(error))),
    )
    .once('exit', () => onLost(new WorkFailed('crash')))
  return {
    post: async (request, transfer) => worker.postMessage(request, transfer),
    resident: () => undefined,
    holds: (alive) => (alive ? worker.ref() : worker.unref()),
    end: () => worker.terminate(),
  }
}

const pageBytes = 4_096
const megabyte = 1_048_576

/** What the kernel says of a process's memory, in MB; undefined on systems without /proc. */
const residentOf = (pid: number | undefined): number | undefined => {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    return (pages * pageBytes) / megabyte
  } catch {
    return undefined
  }
}

/**
 * Writes a process's input; the end of the process is handled elsewhere. Rejects with what the
 * input throws.
 */
const feed = async (stdin: Writable, input: Input): Promise<void> => {
  let broken: { error: unknown } | undefined
  async function* noted() {
    try {
      yield* input
    } catch (error) {
      broken = { error }
      throw error
    }
  }
  await pipeline(noted(), stdin).catch(() => undefined)
  if (broken) throw broken.error
}

/** Gathers what a process writes, as it comes; `whole` resolves when so many bytes have come. */
const gathered = (stdout: Readable) => {
  const parts: Uint8Array[] = []
  let bytes = 0
  let look = () => {}
  stdout.on('data', (part: Uint8Array) => {
    parts.push(part)
    bytes += part.length
    look()
  })
  return {
    whole: (length: number): Promise<Parts> =>
      new Promise((resolve) => {
        look = () => {
          if (bytes >= length) resolve(parts)
        }
        look()
      }),
  }
}

/**
 * A process: whatever its work does to it, no other is touched. It shares no memory. Large input
 * and output go through pipes, a part at a time: a message is copied whole, here and there.
 */
export const processWorker = <Request, Answer>(
  { script, heapMb, lifeMs }: Options,
  { onMessage, onLost }: Listeners<Answer>,
): WorkerHandle<Request> => {
  const child = startProcess(
    script,
    {
      args: [String(lifeMs)],
      execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=16'],
      env: {},
      serialization: 'advanced',
      stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
    },
    (error) => onLost(new WorkFailed('start', String(error))),
  )
  if (!child) return notStarted
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('a process was started without pipes')
  // The process's exit tells the cause.
  for (const pipe of [stdin, stdout]) pipe.on('error', () => undefined)
  const output = gathered(stdout)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child
    .on('message', (message: FromWorker<Answer>) => {
      const outputBytes = 'answer' in message ? message.outputBytes : undefined
      if (outputBytes === undefined) onMessage(message, [])
      else void output.whole(outputBytes).then((parts) => onMessage(message, parts))
    })
    .on('error', (error) => onLost(new WorkFailed('crash', String(error))))
    .once('exit', (code, signal) =>
      // V8 aborts when the heap is full; the system kills when all memory is.
      onLost(new WorkFailed(signal === null && code !== 134 ? 'crash' : 'memory')),
    )
  return {
    post: async (request, _, input = []) => {
      child.send(request as never, () => undefined)
      await feed(stdin, input)
    },
    resident: () => residentOf(child.pid),
    holds: (alive) => (alive ? child.ref() : child.unref()),
    end: () => {
      child.kill('SIGKILL')
      return exited
    },
  }
}
