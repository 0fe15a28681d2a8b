#!/usr/bin/env node
import { pino } from 'pino'
import { app } from './app.ts'
import { configFrom } from './config.ts'
import { schedule } from './jobs/schedule.ts'

const stopWithinMs = 10_000

/** What a newcomer can paste: one request whole, one streamed. */
const welcome = (url: string, key: string): string => `
  A demo organization was made. Its key, shown this once: ${key}

  curl ${url}/api/external/v1/chat/completions \\
    -H 'X-API-Key: ${key}' -H 'Content-Type: application/json' \\
    -d '{"messages":[{"role":"user","content":"Hello, what can you do?"}]}'

  Streamed: the same with -N and "stream":true in the body. Reference: ${url}/docs
`

const main = async (): Promise<void> => {
  const config = configFrom(process.env)
  const destination = pino.destination({
    dest: 1,
    sync: false,
    minLength: 4096,
    periodicFlush: 500,
  })
  const log = pino({ level: config.LOG_LEVEL, base: null }, destination)
  const running = await app(config, { log })
  const made = config.DEMO ? await running.demo() : undefined
  if (made) await running.visible(made.position)
  const url = await running.http.listen({ host: config.HOST, port: config.PORT })
  await running.recover()
  const jobs = await schedule({ tick: running.tick, log })
  if (made) process.stdout.write(welcome(url, made.key))

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

main().catch((error: Error) => {
  process.stderr.write(`${error.name}: ${error.message}\n`)
  process.exit(1)
})
