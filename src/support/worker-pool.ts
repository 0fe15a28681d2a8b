import { type Entered, fairQueue } from './fair-queue.ts'
import type { FromWorker } from './serve-tasks.ts'
import {
  type Input,
  processWorker,
  threadWorker,
  type WorkerHandle,
  WorkFailed,
} from './worker-handle.ts'

export type PoolOptions = {
  /** The compiled script of the threads, which calls `serveTasks`. */
  script: URL
  /** How many tasks run at once. */
  threads: number
  /** For one task, unless it says otherwise. */
  timeoutMs: number
  /** The largest heap of one thread, in MB. */
  heapMb: number
  /**
   * Each task has a process of its own, which may take this much memory in all, in MB: for work
   * that may do anything. Its time begins when it is started. Else threads go from task to task.
   */
  processMb?: number
  /** A thread without work ends after this long. */
  idleMs?: number
  /** What each thread gets as its `workerData`. */
  data?: unknown
}

type Task = {
  timeoutMs?: number
  transfer?: readonly ArrayBuffer[]
  /** What a process reads from its standard input. */
  input?: Input
  /** Called before a process's answer with what it has written. */
  output?(parts: readonly Uint8Array[]): void
}

type Job<Request, Answer> = Task & {
  /** Failed starts for this task. */
  tries: number
  request: Request
  timeoutMs: number
  transfer: readonly ArrayBuffer[]
  resolve(answer: Answer): void
  reject(error: unknown): void
}

const lookMs = 50
/** How often a start is tried, and how long after the one before at most. */
const mostTries = 12
const longestPauseMs = 1_000
/** For a thread to load its script, on a machine that is busy. */
const startMs = 30_000

/**
 * Threads or processes for work that may be malicious. A task that takes too long or too much
 * memory ends what works on it, and only that; the next task gets a new one. Owners take turns
 * (`fairQueue`). They start when there is work, and without work do not keep this process alive.
 */
export const workerPool = <Request, Answer>(options: PoolOptions) => {
  const { threads, timeoutMs, processMb, idleMs } = options
  const once = processMb !== undefined
  type Own = Job<Request, Answer>
  type PoolWorker = {
    handle: WorkerHandle<Request>
    served: number
    onMessage(message: FromWorker<Answer>, output: readonly Uint8Array[]): void
    onLost(error: WorkFailed): void
  }
  const queue = fairQueue<Own>(threads)
  const running = new Set<PoolWorker>()
  /** Tasks whose start failed so far. */
  const later = new Map<Entered<Own>, NodeJS.Timeout>()
  const idle: { worker: PoolWorker; timer: NodeJS.Timeout | undefined }[] = []
  let closed = false

  const forget = (worker: PoolWorker): void => {
    const at = idle.findIndex((entry) => entry.worker === worker)
    if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer)
  }

  const rest = (worker: PoolWorker): void => {
    if (once || closed) {
      void worker.handle.end()
      return
    }
    const stop = () => {
      forget(worker)
      void worker.handle.end()
    }
    worker.handle.holds(false)
    const timer = idleMs === undefined ? undefined : setTimeout(stop, idleMs).unref()
    idle.push({ worker, timer })
  }

  const started = (): PoolWorker => {
    const open = once ? processWorker<Request, Answer> : threadWorker<Request, Answer>
    const handle = open(
      { ...options, lifeMs: startMs + 2 * timeoutMs },
      {
        onMessage: (message, output) => worker.onMessage(message, output),
        onLost: (error) => worker.onLost(error),
      },
    )
    const worker: PoolWorker = {
      handle,
      served: 0,
      onMessage: () => undefined,
      onLost: () => forget(worker),
    }
    return worker
  }

  const awake = (): { worker: PoolWorker; isNew: boolean } => {
    const resting = idle.pop()
    if (!resting) return { worker: started(), isNew: true }
    clearTimeout(resting.timer)
    resting.worker.handle.holds(true)
    return { worker: resting.worker, isNew: false }
  }

  /** Retries when file handles or memory may be free again. */
  const startLater = (entered: Entered<Own>): void => {
    const pause = Math.min(longestPauseMs, lookMs * 2 ** entered.item.tries++)
    const timer = setTimeout(() => {
      later.delete(entered)
      start(entered)
    }, pause)
    later.set(entered, timer)
  }

  const start = (entered: Entered<Own>): void => {
    const { item: job, leave } = entered
    const { worker, isNew } = awake()
    let isUp = !isNew
    running.add(worker)
    const late = () => worker.onLost(new WorkFailed('time'))
    let timer = setTimeout(late, isNew && !once ? startMs : job.timeoutMs)
    const look = () => {
      if ((worker.handle.resident() ?? 0) > (processMb ?? 0))
        worker.onLost(new WorkFailed('memory'))
    }
    const looking = once ? setInterval(look, lookMs) : undefined

    const post = (): void => {
      worker.handle.post(job.request, job.transfer, job.input).catch((error: unknown) => {
        if (!running.has(worker)) return
        over()
        leave()
        void worker.handle.end()
        job.reject(error)
        pump()
      })
    }

    const over = (): void => {
      clearTimeout(timer)
      clearInterval(looking)
      running.delete(worker)
      worker.onMessage = () => undefined
      worker.onLost = () => forget(worker)
    }
    worker.onMessage = (message, output) => {
      if ('up' in message) {
        isUp = true
        if (isNew) post()
        if (once) return
        clearTimeout(timer)
        timer = setTimeout(late, job.timeoutMs)
        return
      }
      over()
      leave()
      worker.served++
      rest(worker)
      job.output?.(output)
      if ('answer' in message) job.resolve(message.answer)
      else job.reject(new WorkFailed('crash', message.threw))
      pump()
    }
    worker.onLost = (cause) => {
      // The task had not arrived yet.
      const error =
        cause.fault === 'crash' && !isUp ? new WorkFailed('start', cause.message) : cause
      over()
      const again = error.fault === 'memory' && worker.served > 0 && job.transfer.length === 0
      const settle = () => {
        // What earlier tasks left may have filled it: this one gets a new thread.
        if (again && !closed) return start(entered)
        if (error.fault === 'start' && job.tries < mostTries && !closed) return startLater(entered)
        leave()
        job.reject(error)
        pump()
      }
      worker.handle.end().then(settle, settle)
    }
    // What is sent before it is up would be lost if it does not start.
    if (!isNew) post()
  }

  const pump = (): void => {
    for (let entered = closed ? undefined : queue.next(); entered; entered = queue.next())
      start(entered)
  }

  return {
    /**
     * Has a task done when it is its owner's turn. What is in `transfer` may be empty here
     * afterwards. Where nothing can be started that is tried for ten seconds. @throws WorkFailed,
     * what `input` throws
     */
    run(owner: string, request: Request, task: Task = {}): Promise<Answer> {
      return new Promise((resolve, reject) => {
        if (closed) {
          reject(new WorkFailed('closed'))
          return
        }
        queue.add(owner, { timeoutMs, transfer: [], ...task, tries: 0, request, resolve, reject })
        pump()
      })
    },
    /** Ends everything; pending tasks fail. */
    async close(): Promise<void> {
      closed = true
      for (const job of queue.clear()) job.reject(new WorkFailed('closed'))
      for (const [{ item }, timer] of later) {
        clearTimeout(timer)
        item.reject(new WorkFailed('closed'))
      }
      later.clear()
      const resting = idle.splice(0)
      for (const { timer } of resting) clearTimeout(timer)
      const ending = resting.map(({ worker }) => worker.handle.end())
      for (const worker of [...running]) {
        ending.push(worker.handle.end())
        worker.onLost(new WorkFailed('closed'))
      }
      await Promise.all(ending)
    },
  }
}

export type WorkerPool<Request, Answer> = ReturnType<typeof workerPool<Request, Answer>>
