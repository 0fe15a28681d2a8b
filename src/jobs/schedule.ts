import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import type { Log } from '../ports/log.ts'

type Options = {
  /** The recurring work. */
  tick(): Promise<void>
  log: Log
  /** Milliseconds, or what bree understands. */
  every?: number | string
}

/**
 * Recurring work. A job is a thread without this process's memory: it only signals the time, and
 * the work runs here, one run at a time.
 */
export const schedule = ({ tick, log, every = '30s' }: Options) => {
  let busy: Promise<void> | undefined
  const run = () => {
    busy ??= tick()
      .catch((err) => log.error({ err }, 'recurring work failed'))
      .finally(() => {
        busy = undefined
      })
  }
  const bree = new Bree({
    root: false,
    logger: false,
    jobs: [
      {
        name: 'tick',
        path: fileURLToPath(new URL('./tick.js', import.meta.url)),
        interval: every,
      },
    ],
    workerMessageHandler: run,
    errorHandler: (err) => log.error({ err }, 'a scheduled job failed'),
  })
  return {
    start: () => bree.start(),
    /** Stops the schedule; resolves when running work has ended. */
    async stop(): Promise<void> {
      await bree.stop()
      await busy
    },
  }
}
