import { parentPort } from 'node:worker_threads'

/** What a thread tells its pool: that it can work, an answer, or what its work threw. */
export type FromThread<Answer> = { up: true } | { answer: Answer } | { threw: string }

type Done<Answer> = { answer: Answer; transfer?: readonly ArrayBuffer[] }

/** The other end of a `workerPool`, in its threads: works on one task at a time. */
export const serveTasks = <Asked, Answer>(
  work: (asked: Asked) => Done<Answer> | Promise<Done<Answer>>,
): void => {
  const tell = (message: FromThread<Answer>, transfer: readonly ArrayBuffer[] = []) =>
    parentPort?.postMessage(message, transfer)
  parentPort?.on('message', async (asked: Asked) => {
    try {
      const { answer, transfer } = await work(asked)
      tell({ answer }, transfer)
    } catch (error) {
      tell({ threw: String(error) })
    }
  })
  tell({ up: true })
}
