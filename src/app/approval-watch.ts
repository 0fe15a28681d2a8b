import type { Log } from '../ports/log.ts'

type Uses = {
  /** Denies calls whose time has come. */
  expire(): Promise<void>
  log: Pick<Log, 'error'>
  everyMs?: number
}

/** Has calls denied within a second of their time, one look at a time. */
export const approvalWatch = ({ expire, log, everyMs = 500 }: Uses) => {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  /** A failure is logged once, until a look succeeds. */
  let isFailing = false

  const look = async (): Promise<void> => {
    try {
      await expire()
      isFailing = false
    } catch (err) {
      if (!isFailing) log.error({ err }, 'calls that wait for an approval could not be denied')
      isFailing = true
    }
  }

  return {
    start(): void {
      timer ??= setInterval(() => {
        looking ??= look().finally(() => {
          looking = undefined
        })
      }, everyMs).unref()
    },
    /** Resolves when the look under way has ended. */
    async stop(): Promise<void> {
      clearInterval(timer)
      await looking
    },
  }
}
