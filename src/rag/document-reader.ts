import { WorkFailed, type WorkFault, workerPool } from '../support/worker-pool.ts'
import type { DocumentTask, ReadDocument } from './document-thread.ts'

type Limits = {
  timeoutMs: number
  /** The largest heap of one thread, in MB. */
  heapMb: number
  /** How much memory all threads may take outside their heaps before they are ended. */
  growthMb: number
  /** How many documents are read at once. */
  threads: number
}

const usual: Limits = { timeoutMs: 30_000, heapMb: 384, growthMb: 1_024, threads: 8 }

/** The reader was closed before the document was read. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

/**
 * Reads documents that may be malicious, each in a thread of its own, which is ended when it takes
 * too long or too much memory.
 */
export const documentReader = (limits: Partial<Limits> = {}) => {
  const bounds = { ...usual, ...limits }
  const pool = workerPool<DocumentTask, ReadDocument>({
    ...bounds,
    script: new URL('./document-thread.js', import.meta.url),
    once: true,
  })
  const words: Record<Exclude<WorkFault, 'closed'>, string> = {
    time: `The document cannot be read in ${bounds.timeoutMs / 1_000} seconds`,
    memory: 'The document needs too much memory to be read',
    crash: 'The document is damaged',
  }

  return {
    /** The bytes are transferred to the thread and empty afterwards. @throws ReaderClosed */
    async read(task: DocumentTask): Promise<ReadDocument> {
      try {
        return await pool.run(task.uploadId, task, { transfer: [task.bytes.buffer] })
      } catch (error) {
        if (!(error instanceof WorkFailed)) throw error
        if (error.fault === 'closed') throw new ReaderClosed()
        return { failed: words[error.fault] }
      }
    },
    /** Ends every thread; pending reads reject. */
    close: pool.close,
  }
}

export type DocumentReader = ReturnType<typeof documentReader>
