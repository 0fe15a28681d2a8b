import { Console } from 'node:console'
import { isatty } from 'node:tty'
import { pino } from 'pino'
import { offlineName } from '../adapters/models/registry.ts'
import { type Config, configFrom, type Environment } from '../config.ts'
import { schedule } from '../jobs/schedule.ts'
import { StoreDamaged } from '../ports/event-store.ts'
import { type App, app } from './app.ts'
import { damagedExit } from './exit-code.ts'
import { logOutput } from './log-output.ts'
import { readableLog } from './readable-log.ts'

const stopWithinMs = 10_000
const advice =
  'Nothing was changed: restore a backup (reprise restore), see docs/troubleshooting.md#damage'
/** How long the last log lines may take. */
const flushMs = 1_000

/** Which model answers, and how to connect one where none is configured. */
const answering = (model: string): string =>
  model === offlineName
    ? `${model} answers: its answers are canned. Set LLM_BASE_URL and LLM_MODEL to connect a model`
    : `${model} answers`

/** Exports to paste, and commands that use them: two requests, one streamed, and the events. */
const welcome = (
  url: string,
  model: string,
  { key, organizationId, welcomePath }: NonNullable<Awaited<ReturnType<App['demo']>>>,
) => `
  A demo organization was made. Its key is shown this once:

  export REPRISE_URL=${url}
  export REPRISE_ORGANIZATION=${organizationId}
  export REPRISE_API_KEY=${key}

  ${answering(model)}

  curl -sS $REPRISE_URL/api/external/v1/chat/completions \\
    -H "X-API-Key: $REPRISE_API_KEY" -H 'Content-Type: application/json' \\
    -d '{"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  The same, streamed:

  curl -sS -N $REPRISE_URL/api/external/v1/chat/completions \\
    -H "X-API-Key: $REPRISE_API_KEY" -H 'Content-Type: application/json' \\
    -d '{"stream":true,"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  What was recorded of it:

  curl -sS $REPRISE_URL/api/admin/organizations/$REPRISE_ORGANIZATION/audit/events \\
    -H "X-API-Key: $REPRISE_API_KEY"

  Console: open this once, within an hour, in a browser

  ${url}${welcomePath}

  Reference: ${url}/docs
`

/** JSON lines, on a terminal readable ones. */
const logTo = (level: string) => {
  const output = logOutput()
  const readable = { write: (line: string) => output.write(readableLog(line)) }
  const log = pino({ level, base: null }, isatty(1) ? readable : output)
  /** Ends the process once its last log lines are written, or cannot be. */
  const exit = async (code: number): Promise<never> => {
    await output.flushed(flushMs)
    process.exit(code)
  }
  return { log, output, exit }
}

/** Ends the process in order, in bounded time, with an exit code; asked again, at once. */
const endOnce = ({ log, exit }: ReturnType<typeof logTo>, stop: () => Promise<unknown>) => {
  let stopping = false
  return (code: number, why: object): unknown => {
    log.info(why, stopping ? 'stopping at once' : 'stopping')
    if (stopping) return exit(code || 1)
    stopping = true
    setTimeout(() => {
      log.fatal('did not stop in time')
      return exit(code || 1)
    }, stopWithinMs).unref()
    return stop().then(
      () => {
        log.info('stopped')
        return exit(code)
      },
      (err) => {
        log.fatal({ err }, 'could not stop in order')
        return exit(code || 1)
      },
    )
  }
}

/**
 * Connections that the system holds until they are accepted, as far as it allows
 * (`net.core.somaxconn`). Beyond, clients try again after 1, 3, 7 … 63 s.
 */
const backlog = 4_096

/**
 * Ends the runs of an earlier process before the server listens: their sessions would refuse new
 * turns. Listens before the demo's key is created: the key is shown once, and a start that failed
 * after creating it would lose it.
 */
const opened = async ({ http, demo, recover }: App, config: Config) => {
  await recover()
  const url = await http.listen({ host: config.HOST, port: config.PORT, backlog })
  const credentials = config.DEMO ? await demo() : undefined
  return { url, credentials }
}

/** Runs the server until a signal ends the process; resolves when it is ready. */
const running = async (config: Config, out: ReturnType<typeof logTo>): Promise<void> => {
  const { log, output, exit } = out
  /** Until there is more to end. */
  let endNow: ReturnType<typeof endOnce> = exit
  const opening = await app(config, {
    log,
    logLinesDropped: output.dropped,
    onDamaged: (err) => {
      log.fatal({ err }, `the log of events is damaged. ${advice}`)
      endNow(damagedExit, { err })
    },
  })
  const jobs = schedule({ tick: opening.tick, log })
  const end = async () => {
    await jobs.stop()
    await opening.close()
  }
  let ending: Promise<void> | undefined
  const stop = () => {
    ending ??= end()
    return ending
  }
  const endProcess = endOnce(out, stop)
  endNow = endProcess
  for (const name of ['SIGTERM', 'SIGINT'])
    process.on(name, (signal: string) => endProcess(0, { signal }))
  try {
    const { url, credentials } = await opened(opening, config)
    await jobs.start()
    const { defaultModel } = opening
    log.info({ model: defaultModel }, answering(defaultModel))
    log.info({ url }, 'ready')
    if (credentials) output.write(welcome(config.PUBLIC_URL ?? url, defaultModel, credentials))
    // Whoever waits for the server learns of it at once, not with the next lines.
    await output.flushed(flushMs)
  } catch (error) {
    await stop()
    throw error
  }
}

/**
 * The server as a process: ends the runs of an earlier process, listens, creates the demo
 * organization in an empty store, and stops in order on SIGTERM and SIGINT, with exit code 0.
 * Resolves when it is ready. @throws ConfigInvalid, StoreInUse, StoreFormat,
 * StoreDamaged, and the errors of listening
 */
export const serve = async (env: Environment): Promise<void> => {
  const config = configFrom(env)
  const out = logTo(config.LOG_LEVEL)
  const { log, output, exit } = out
  // Standard output has log lines only: console output of libraries goes to standard error.
  globalThis.console = new Console(process.stderr)
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception')
    return exit(1)
  })
  try {
    await running(config, out)
  } catch (error) {
    await output.flushed(flushMs)
    if (!(error instanceof StoreDamaged)) throw error
    throw new StoreDamaged(`${error.message}. ${advice}`, { cause: error })
  }
}
