import { once } from 'node:events'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { StoreDamaged } from '../../ports/event-store.ts'
import type { Log } from '../../ports/log.ts'
import { deferred } from '../../support/deferred.ts'
import { startProcess } from '../../support/start-process.ts'

export type FileKind = 'log' | 'views'

/** A line of the checking process: how far it is, and what it has found there. */
const walkLine = z.object({
  database: z.string(),
  entries: z.number(),
  total: z.number(),
  /** Of the last record that was read. */
  position: z.number().optional(),
  /** The value at this position, or of this database, does not match its checksum. */
  damaged: z.boolean().optional(),
  /** Why the file cannot be trusted. */
  fault: z.string().optional(),
})

export type WalkLine = z.infer<typeof walkLine>

export type CheckOptions = {
  /** Of the data file. */
  path: string
  kind: FileKind
  log: Log
  /** Called for each value that does not match its checksum. */
  onValue(line: WalkLine): void
  /** Called for a damaged page after the start has stopped waiting for the check. */
  onFault(error: StoreDamaged): void
  patienceMs?: number | undefined
}

const walk = new URL('./integrity-walk.js', import.meta.url)
/** The start waits so long for the check, which then goes on beside it. */
const usualPatienceMs = 3_000
const reportMs = 5_000
/** How lmdb ends a process that reads a damaged page. */
const deadly = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE']
/** The file that says that a check was begun and has not ended. */
const pendingMark = 'check-pending'

export const removePending = (path: string): void =>
  rmSync(join(path, pendingMark), { force: true })

const extentOf = ({ database, entries, total, position }: WalkLine): string => {
  if (database === '') return ', nothing of it could be read'
  const upTo = position === undefined ? '' : `, up to position ${position}`
  return ` in the database ${database}, behind entry ${entries} of ${total}${upTo}`
}

/** Runs the check. `sound` rejects with StoreDamaged, or an Error where the check itself failed. */
const startWalk = ({ path, kind, log, onValue }: CheckOptions) => {
  const file = join(path, 'data.mdb')
  let last: WalkLine = { database: '', entries: 0, total: 0 }
  const failed = deferred<never>()
  const child = startProcess(
    walk,
    { args: [path, kind], execArgv: [], env: {}, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] },
    failed.reject,
  )

  const awaitEnd = async () => {
    if (!child?.stdout) return failed.promise
    createInterface(child.stdout).on('line', (text) => {
      last = walkLine.parse(JSON.parse(text))
      if (last.damaged) onValue(last)
    })
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    const fault = last.fault ?? (deadly.includes(signal ?? '') ? `lmdb ended with ${signal}` : '')
    if (fault) throw new StoreDamaged(`${file} is damaged${extentOf(last)}: ${fault}`)
    if (code !== 0) throw new Error(`the check of ${file} ended with ${signal ?? `code ${code}`}`)
  }
  const report = setInterval(() => log.info({ file, ...last }, 'checking a data file'), reportMs)
  return {
    sound: awaitEnd().finally(() => clearInterval(report)),
    stop: () => child?.kill('SIGKILL'),
  }
}

/**
 * Checks a data file that was not closed, in a process of its own. Resolves when it is sound, or
 * when the check takes long: it then goes on beside the start. Where an earlier start ended before
 * its check had, this one is waited for. @returns what stops the check @throws StoreDamaged
 */
export const checkIntegrity = async (options: CheckOptions): Promise<() => void> => {
  const { path, log, onFault, patienceMs = usualPatienceMs } = options
  const mark = join(path, pendingMark)
  const wasCutOff = existsSync(mark)
  writeFileSync(mark, '')
  const { sound, stop } = startWalk(options)
  const completion = sound.then(() => removePending(path))
  completion.catch(() => undefined)
  if (wasCutOff) await completion
  else {
    const late = pause(patienceMs, 'late' as const, { ref: false })
    if ((await Promise.race([completion, late])) !== 'late') return () => undefined
  }
  let stopped = false
  completion.catch((err) => {
    if (stopped) return
    if (err instanceof StoreDamaged) onFault(err)
    else log.error({ err, path }, 'a data file could not be checked')
  })
  return () => {
    stopped = true
    stop()
  }
}
