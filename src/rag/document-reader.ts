import { type Input, WorkFailed, type WorkFault } from '../support/worker-handle.ts'
import { workerPool } from '../support/worker-pool.ts'
import type { DocumentAnswer, DocumentTask } from './document-process.ts'

type Document = DocumentTask & { bytes: Input }

/** `lines`: the stored chunks, in parts; `hash`: their SHA-256. `warnings` name lost content. */
export type ReadDocument =
  | { lines: readonly Uint8Array[]; hash: string; count: number; warnings: readonly string[] }
  /** Why the file cannot be read, in words for the user who uploaded it. */
  | { failed: string }

type Limits = {
  timeoutMs: number
  /** The largest heap of one process, in MB. */
  heapMb: number
  /** All memory of one process, in MB. */
  processMb: number
  /** How many documents are read at once. */
  threads: number
}

const usual: Limits = { timeoutMs: 30_000, heapMb: 384, processMb: 1_024, threads: 8 }

/** The reader was closed before the document was read. */
export class ReaderClosed extends Error {
  override readonly name = 'ReaderClosed'
}

/**
 * Reads documents that may be malicious, each in a process of its own, which is ended when it takes
 * too long or too much memory.
 */
export const documentReader = (limits: Partial<Limits> = {}) => {
  const bounds = { ...usual, ...limits }
  const pool = workerPool<DocumentTask, DocumentAnswer>({
    ...bounds,
    script: new URL('./document-process.js', import.meta.url),
  })
  const words: Record<Exclude<WorkFault, 'closed' | 'start'>, string> = {
    time: `The document cannot be read in ${bounds.timeoutMs / 1_000} seconds`,
    memory: 'The document needs too much memory to be read',
    crash: 'The document is damaged',
  }

  return {
    /** @throws ReaderClosed, WorkFailed when no process can be started, what `bytes` throws */
    async read({ bytes, ...task }: Document): Promise<ReadDocument> {
      let lines: readonly Uint8Array[] = []
      const output = (parts: readonly Uint8Array[]) => {
        lines = parts
      }
      try {
        const answer = await pool.run(task.uploadId, task, { input: bytes, output })
        return 'failed' in answer ? answer : { ...answer, lines }
      } catch (error) {
        if (!(error instanceof WorkFailed)) throw error
        if (error.fault === 'closed') throw new ReaderClosed()
        if (error.fault === 'start') throw error
        return { failed: words[error.fault] }
      }
    },
    /** Ends every process; pending reads reject. */
    close: pool.close,
  }
}

export type DocumentReader = ReturnType<typeof documentReader>
