import { pino } from 'pino'
import { type Config, configFrom, type Environment } from '../config.ts'
import { schedule } from '../jobs/schedule.ts'
import { type App, app } from './app.ts'

const stopWithinMs = 10_000
/** Log lines are written when the buffer is full, or this often. */
const flushMs = 500

/** Commands to paste: a request, a streamed request, and a list of the recorded events. */
const welcome = (url: string, { key, organizationId }: { key: string; organizationId: string }) => `
  A demo organization was made. Its key, shown this once: ${key}

  curl ${url}/api/external/v1/chat/completions \\
    -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -d '{"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  The same, streamed:

  curl -N ${url}/api/external/v1/chat/completions \\
    -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -d '{"stream":true,"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  What was recorded of it:

  curl ${url}/api/admin/organizations/${organizationId}/audit/events -H 'X-API-Key: ${key}'

  Reference: ${url}/docs
`

const logTo = (level: string) => {
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 4096,
    periodicFlush: flushMs,
  })
  const log = pino({ level, base: null }, destination)
  /** Ends the process after its last log lines are written. */
  const exit = (code: number): never => {
    destination.flushSync()
    process.exit(code)
  }
  return { log, exit }
}

/** The first signal stops the process in order, in bounded time; a second one stops it at once. */
const stopOnSignals = (
  { log, exit }: ReturnType<typeof logTo>,
  stop: () => Promise<unknown>,
): void => {
  let stopping = false
  const onSignal = (signal: string) => {
    log.info({ signal }, stopping ? 'stopping at once' : 'stopping')
    if (stopping) exit(1)
    stopping = true
    setTimeout(() => {
      log.fatal('did not stop in time')
      exit(1)
    }, stopWithinMs).unref()
    stop().then(
      () => {
        log.info('stopped')
        exit(0)
      },
      (err) => {
        log.fatal({ err }, 'could not stop in order')
        exit(1)
      },
    )
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

/**
 * Ends the runs of an earlier process before the server listens: their sessions would refuse new
 * turns. Listens before the demo's key is created: the key is shown once, and a start that failed
 * after creating it would lose it.
 */
const opened = async ({ http, demo, recover }: App, config: Config) => {
  await recover()
  const url = await http.listen({ host: config.HOST, port: config.PORT })
  const made = config.DEMO ? await demo() : undefined
  return { url, made }
}

/**
 * The server as a process: ends the runs of an earlier process, listens, creates the demo
 * organization in an empty store, and stops in order on SIGTERM and SIGINT, with exit code 0.
 * Resolves when it is ready. @throws ConfigInvalid, StoreInUse, StoreDamaged, and the errors of
 * listening
 */
export const serve = async (env: Environment): Promise<void> => {
  const config = configFrom(env)
  const out = logTo(config.LOG_LEVEL)
  const { log, exit } = out
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    exit(1)
  })
  const running = await app(config, { log })
  const jobs = schedule({ tick: running.tick, log })
  const end = async () => {
    await jobs.stop()
    await running.close()
  }
  let ending: Promise<void> | undefined
  const stop = () => {
    ending ??= end()
    return ending
  }
  stopOnSignals(out, stop)
  try {
    const { url, made } = await opened(running, config)
    await jobs.start()
    log.info({ url }, 'ready')
    if (made) process.stdout.write(welcome(config.PUBLIC_URL ?? url, made))
  } catch (error) {
    await stop()
    throw error
  }
}
