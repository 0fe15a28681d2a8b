import { fileURLToPath } from 'node:url'
import Bree from 'bree'
import type { Log } from '../ports/log.ts'

type Options = {
  /** Ends overdue and orphaned runs, forgets old answers. */
  tick(): Promise<void>
  log: Log
  /** Milliseconds, or what bree understands. */
  every?: number | string
}

/**
 * What happens by the clock. A job is a thread without our memory: it only says that the time has
 * come, and the command runs here, one at a time.
 */
export const schedule = ({ tick, log, every = '30s' }: Options) => {
  let busy: Promise<void> | undefined
  const run = () => {
    busy ??= tick()
      .catch((err) => log.error({ err }, 'a scheduled duty failed'))
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
    /** Nothing comes after this; what was under way is waited for. */
    async stop(): Promise<void> {
      await bree.stop()
      await busy
    },
  }
}
