import { Worker } from 'node:worker_threads'
import type { DocumentTask, ReadDocument } from './document-thread.ts'

type Limits = {
  timeoutMs: number
  /** Of one thread's heap. */
  heapMb: number
  /** What all threads may take beside their heaps before they are ended. */
  growthMb: number
}

const usual: Limits = { timeoutMs: 30_000, heapMb: 384, growthMb: 1_024 }
const megabyte = 1024 * 1024
const lookMs = 50

/** The reader is closed: nothing is known of the document. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

const tooLarge: ReadDocument = { failed: 'The document needs too much memory to be read' }
const damaged: ReadDocument = { failed: 'The document is damaged' }

const wordsFor = (error: unknown): ReadDocument =>
  (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY' ? tooLarge : damaged

/**
 * Reads documents that may be made to do harm, each in a thread of its own that sees nothing of
 * another's and is ended when it takes too long or too much memory. A heap is limited by its
 * engine; what is beside it is only known of the whole process, which is therefore watched.
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
    /** The bytes are given away. @throws ReaderClosed */
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
    /** Ends every thread; whoever waits for one is told. */
    close(): void {
      closed = true
      for (const settle of running.values()) settle(new ReaderClosed())
    },
  }
}

export type DocumentReader = ReturnType<typeof documentReader>
