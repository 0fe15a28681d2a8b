import { Worker } from 'node:worker_threads'
import type { DocumentTask, ReadDocument } from './document-thread.ts'

type Limits = {
  timeoutMs: number
  /** The largest heap of one thread, in MB. */
  heapMb: number
  /** How much memory all threads may take outside their heaps before they are ended. */
  growthMb: number
}

const usual: Limits = { timeoutMs: 30_000, heapMb: 384, growthMb: 1_024 }
const megabyte = 1024 * 1024
const lookMs = 50

/** The reader was closed before the document was read. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

const tooLarge: ReadDocument = { failed: 'The document needs too much memory to be read' }
const damaged: ReadDocument = { failed: 'The document is damaged' }

const wordsFor = (error: unknown): ReadDocument =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge : damaged

/**
 * Reads documents that may be malicious, each in a thread of its own, which is ended when it takes
 * too long or too much memory. The engine limits the heap of each thread. Memory outside the heap
 * is known only for the whole process, so that is watched.
 */
export const documentReader = (limits: Partial<Limits> = {}) => {
  const { timeoutMs, heapMb, growthMb } = { ...usual, ...limits }
  const running = new Map<Worker, (outcome: ReadDocument | ReaderClosed) => void>()
  let closed = false
  let before = 0
  let watching: NodeJS.Timeout | undefined

  const watch = (): void => {
    if (watching) return
    before = process.memoryUsage.rss()
    watching = setInterval(() => {
      if (process.memoryUsage.rss() - before < growthMb * megabyte) return
      for (const settle of running.values()) settle(tooLarge)
    }, lookMs).unref()
  }

  return {
    /** The bytes are transferred to the thread and empty afterwards. @throws ReaderClosed */
    read(task: DocumentTask): Promise<ReadDocument> {
      if (closed) throw new ReaderClosed()
      watch()
      const thread = new Worker(new URL('./document-thread.js', import.meta.url), {
        workerData: task,
        transferList: [task.bytes.buffer],
        env: {},
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: 32 },
      })
      return new Promise((resolve, reject) => {
        const settle = (outcome: ReadDocument | ReaderClosed): void => {
          if (!running.delete(thread)) return
          clearTimeout(timer)
          if (running.size === 0) {
            clearInterval(watching)
            watching = undefined
          }
          const ended = () => (outcome instanceof ReaderClosed ? reject(outcome) : resolve(outcome))
          thread.terminate().then(ended, ended)
        }
        const timer = setTimeout(settle, timeoutMs, {
          failed: `The document cannot be read in ${timeoutMs / 1_000} seconds`,
        })
        running.set(thread, settle)
        thread
          .once('message', settle)
          .once('error', (error) => settle(wordsFor(error)))
          .once('exit', () => settle(damaged))
      })
    },
    /** Ends every thread; pending reads reject. */
    close(): void {
      closed = true
      for (const settle of running.values()) settle(new ReaderClosed())
    },
  }
}

export type DocumentReader = ReturnType<typeof documentReader>
