import { Worker } from 'node:worker_threads'
import { type Entered, fairQueue } from './fair-queue.ts'
import type { FromThread } from './thread-tasks.ts'

export type PoolOptions = {
  /** The compiled script of the threads, which calls `serveTasks`. */
  script: URL
  /** How many tasks run at once. */
  threads: number
  /** For one task, unless it says otherwise. */
  timeoutMs: number
  /** The largest heap of one thread, in MB. */
  heapMb: number
  /** How much memory all threads may take outside their heaps before they are ended, in MB. */
  growthMb?: number
  /** What each thread gets as its `workerData`. */
  data?: unknown
  /** A thread works on one task and ends; its time begins when it is started. */
  once?: boolean
  /** A thread without work ends after this long. */
  idleMs?: number
}

/** Why a task has no answer: its time or memory was over, its thread died, or the pool was closed. */
export type WorkFault = 'time' | 'memory' | 'crash' | 'closed'

export class WorkFailed extends Error {
  override readonly name = 'WorkFailed'
  readonly fault: WorkFault
  constructor(fault: WorkFault, message: string = fault) {
    super(message)
    this.fault = fault
  }
}

type Task = { timeoutMs?: number; transfer?: readonly ArrayBuffer[] }

type Job<Asked, Answer> = Required<Task> & {
  asked: Asked
  answered(answer: Answer): void
  failed(error: WorkFailed): void
}

const megabyte = 1024 * 1024
const lookMs = 50
/** For a thread to load its script, on a machine that is busy. */
const startMs = 30_000

const faultOf = (error: unknown): WorkFailed =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
    ? new WorkFailed('memory')
    : new WorkFailed('crash', String(error))

/**
 * Threads for work that may be malicious. A task that takes too long or too much memory ends its
 * thread, and only that; the next task gets a new one. Owners take turns (`fairQueue`). The engine
 * limits the heap of each thread; memory outside the heap is known only for the whole process, so
 * that is watched. Threads start when there is work, and do not keep the process alive.
 */
export const workerPool = <Asked, Answer>(options: PoolOptions) => {
  const { script, threads, timeoutMs, heapMb, growthMb, data, once = false, idleMs } = options
  type Own = Job<Asked, Answer>
  type Thread = { worker: Worker; served: number; job?: Own; end(error: WorkFailed): void }
  const queue = fairQueue<Own>(threads)
  const running = new Set<Thread>()
  const idle: { thread: Thread; timer: NodeJS.Timeout | undefined }[] = []
  let closed = false
  let before = 0
  let watching: NodeJS.Timeout | undefined

  const watch = (): void => {
    if (growthMb === undefined || watching) return
    before = process.memoryUsage.rss()
    watching = setInterval(() => {
      if (process.memoryUsage.rss() - before < growthMb * megabyte) return
      for (const thread of running) thread.end(new WorkFailed('memory'))
    }, lookMs).unref()
  }

  const forget = (thread: Thread): void => {
    const at = idle.findIndex((one) => one.thread === thread)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer)
  }

  const rest = (thread: Thread): void => {
    if (once || closed) {
      void thread.worker.terminate()
      return
    }
    const stop = () => {
      forget(thread)
      void thread.worker.terminate()
    }
    thread.worker.unref()
    const timer = idleMs === undefined ? undefined : setTimeout(stop, idleMs).unref()
    idle.push({ thread, timer })
  }

  const started = (): Thread => {
    const worker = new Worker(script, {
      workerData: data,
      env: {},
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
    })
    const thread: Thread = { worker, served: 0, end: () => forget(thread) }
    worker.once('error', (error) => thread.end(faultOf(error)))
    worker.once('exit', () => thread.end(new WorkFailed('crash')))
    return thread
  }

  const awake = (): { thread: Thread; isNew: boolean } => {
    const resting = idle.pop()
    if (!resting) return { thread: started(), isNew: true }
    clearTimeout(resting.timer)
    resting.thread.worker.ref()
    return { thread: resting.thread, isNew: false }
  }

  const begin = ({ item: job, leave }: Entered<Own>): void => {
    const { thread, isNew } = awake()
    const { worker } = thread
    running.add(thread)
    watch()
    const late = () => thread.end(new WorkFailed('time'))
    let timer = setTimeout(late, isNew && !once ? startMs : job.timeoutMs)

    const over = (): void => {
      clearTimeout(timer)
      worker.off('message', heard)
      running.delete(thread)
      thread.end = () => forget(thread)
      if (running.size === 0) {
        clearInterval(watching)
        watching = undefined
      }
    }
    const heard = (message: FromThread<Answer>): void => {
      if ('up' in message) {
        if (once) return
        clearTimeout(timer)
        timer = setTimeout(late, job.timeoutMs)
        return
      }
      over()
      leave()
      thread.served++
      rest(thread)
      if ('answer' in message) job.answered(message.answer)
      else job.failed(new WorkFailed('crash', message.threw))
      pump()
    }
    thread.end = (error) => {
      over()
      const again = error.fault === 'memory' && thread.served > 0 && job.transfer.length === 0
      const ended = () => {
        // What earlier tasks left may have filled it: this one gets a new thread.
        if (again && !closed) return begin({ item: job, leave })
        leave()
        job.failed(error)
        pump()
      }
      worker.terminate().then(ended, ended)
    }
    worker.on('message', heard)
    worker.postMessage(job.asked, job.transfer)
  }

  const pump = (): void => {
    for (let one = closed ? undefined : queue.next(); one; one = queue.next()) begin(one)
  }

  return {
    /**
     * Has a task done when it is its owner's turn. What is in `transfer` is empty here afterwards.
     * @throws WorkFailed
     */
    run(owner: string, asked: Asked, task: Task = {}): Promise<Answer> {
      return new Promise((answered, failed) => {
        if (closed) {
          failed(new WorkFailed('closed'))
          return
        }
        const { timeoutMs: ms = timeoutMs, transfer = [] } = task
        queue.add(owner, { asked, timeoutMs: ms, transfer, answered, failed })
        pump()
      })
    },
    /** Ends every thread; pending tasks fail. */
    async close(): Promise<void> {
      closed = true
      for (const job of queue.clear()) job.failed(new WorkFailed('closed'))
      const resting = idle.splice(0)
      for (const { timer } of resting) clearTimeout(timer)
      const ending = resting.map(({ thread }) => thread.worker.terminate())
      for (const thread of [...running]) {
        ending.push(thread.worker.terminate())
        thread.end(new WorkFailed('closed'))
      }
      await Promise.all(ending)
    },
  }
}

export type WorkerPool<Asked, Answer> = ReturnType<typeof workerPool<Asked, Answer>>
