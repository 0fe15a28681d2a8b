import { pino } from 'pino'
import { app } from './app.ts'
import { configFrom, type Environment } from './config.ts'
import { schedule } from './jobs/schedule.ts'

const stopWithinMs = 10_000
/** Log lines are written when a page is full, or this often. */
const flushMs = 500

/** What a newcomer can paste: a request, and what became of it. */
const welcome = (url: string, { key, organizationId }: { key: string; organizationId: string }) => `
  A demo organization was made. Its key, shown this once: ${key}

  curl ${url}/api/external/v1/chat/completions \\
    -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -d '{"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  Streamed: the same with -N and "stream":true in the body. Its events:

  curl ${url}/api/admin/organizations/${organizationId}/audit/events -H 'X-API-Key: ${key}'

  Reference: ${url}/docs
`

/**
 * The server as a process: listens, ends what an earlier life left behind, makes the demo
 * organization in an empty store, and stops in order on SIGTERM and SIGINT, which then exit with 0.
 * Resolves when it is ready. @throws ConfigInvalid, StoreInUse, StoreDamaged, what listening throws
 */
export const serve = async (env: Environment): Promise<void> => {
  const config = configFrom(env)
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 4096,
    periodicFlush: flushMs,
  })
  const log = pino({ level: config.LOG_LEVEL, base: null }, destination)
  const running = await app(config, { log })
  const made = config.DEMO ? await running.demo() : undefined
  if (made) await running.visible(made.position)
  const url = await running.http.listen({ host: config.HOST, port: config.PORT })
  await running.recover()
  const jobs = await schedule({ tick: running.tick, log })
  log.info({ url }, 'ready')
  if (made) process.stdout.write(welcome(url, made))

  let stopping = false
  const stop = async (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => {
      log.fatal('did not stop in time')
      destination.flushSync()
      process.exit(1)
    }, stopWithinMs).unref()
    await jobs.stop()
    await running.close()
    log.info('stopped')
    destination.flushSync()
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
}
