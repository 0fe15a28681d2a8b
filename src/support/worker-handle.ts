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

type Told<Answer> = {
  /** `output`: what a process has written with its answer. */
  told(message: FromWorker<Answer>, output: Parts): void
  /** It is gone, by itself. */
  gone(error: WorkFailed): void
}

export type Input = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/** A thread or process that works on one task at a time. */
export type WorkerHandle<Asked> = {
  /**
   * `input`, of a process: what it reads from its standard input, a part at a time. Rejects with
   * what that throws.
   */
  post(asked: Asked, transfer: readonly ArrayBuffer[], input?: Input): Promise<void>
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
export const threadWorker = <Asked, Answer>(
  { script, heapMb, data }: Options,
  { told, gone }: Told<Answer>,
): WorkerHandle<Asked> => {
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
    setImmediate(gone, new WorkFailed('start', String(error)))
    return notStarted
  }
  worker
    .on('message', (message: FromWorker<Answer>) => told(message, []))
    .once('error', (error: NodeJS.ErrnoException) =>
      gone(new WorkFailed(threadFaults[error.code ?? ''] ?? 'crash', String(error))),
    )
    .once('exit', () => gone(new WorkFailed('crash')))
  return {
    post: async (asked, transfer) => worker.postMessage(asked, transfer),
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
 * Writes a process's input; whatever ends the process is told elsewhere. Rejects with what the
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
export const processWorker = <Asked, Answer>(
  { script, heapMb, lifeMs }: Options,
  { told, gone }: Told<Answer>,
): WorkerHandle<Asked> => {
  const child = startProcess(
    script,
    {
      args: [String(lifeMs)],
      execArgv: [`--max-old-space-size=${heapMb}`, '--max-semi-space-size=16'],
      env: {},
      serialization: 'advanced',
      stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
    },
    (error) => gone(new WorkFailed('start', String(error))),
  )
  if (!child) return notStarted
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('a process was started without pipes')
  // What ends it is told by its exit.
  for (const pipe of [stdin, stdout]) pipe.on('error', () => undefined)
  const output = gathered(stdout)
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child
    .on('message', (message: FromWorker<Answer>) => {
      const written = 'answer' in message ? message.written : undefined
      if (written === undefined) told(message, [])
      else void output.whole(written).then((parts) => told(message, parts))
    })
    .on('error', (error) => gone(new WorkFailed('crash', String(error))))
    .once('exit', (code, signal) =>
      // V8 aborts when the heap is full; the system kills when all memory is.
      gone(new WorkFailed(signal === null && code !== 134 ? 'crash' : 'memory')),
    )
  return {
    post: async (asked, _, input = []) => {
      child.send(asked as never, () => undefined)
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
