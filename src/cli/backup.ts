import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backUp, withLog } from '../app/backup/back-up.ts'
import { diskRoom, makeFile, partialOf } from '../app/backup/backup-file.ts'
import { erasureLines } from '../app/backup/erasures.ts'
import { restore } from '../app/backup/restore.ts'
import { type Config, configFrom, type Environment } from '../config.ts'
import { position } from '../domain/event.ts'
import { CommandFailed } from './command-failed.ts'
import { inOwnProcess } from './in-own-process.ts'

type Say = (line: string) => void

/** `say` is for people; the answer of a command is for programs. */
type CommandContext = { env: Environment; say: Say }

const expected = new Set([
  'ErasuresUnreadable',
  'NoLog',
  'RestoreRefused',
  'StoreDamaged',
  'StoreFormat',
  'StoreInUse',
  'StoreUnavailable',
  'TargetExists',
])

/** How far a command is, in steps of 5 %. */
const steps = (say: Say) => {
  let last = ''
  return (what: string, done: number, total: number): void => {
    const line = `${what}: ${Math.floor((20 * done) / total) * 5} %`
    if (line !== last) say(line)
    last = line
  }
}

/** Runs a work that an interrupt ends in order. @throws CommandFailed */
const interruptible = async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const ending = new AbortController()
  const end = () => ending.abort(new CommandFailed('interrupted: nothing is left of it'))
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const name of signals) process.on(name, end)
  try {
    return await work(ending.signal)
  } catch (error) {
    if (!(error instanceof Error) || !expected.has(error.name)) throw error
    const { message, cause } = error
    throw new CommandFailed(cause instanceof Error ? `${message}: ${cause.message}` : message)
  } finally {
    for (const name of signals) process.off(name, end)
  }
}

const required = (value: string | undefined, what: string): string => {
  if (value === undefined || value === '') throw new CommandFailed(`${what} is required`, 2)
  return String(value)
}

/** @throws CommandFailed where not all stores are in DATA_DIR */
const embeddedConfig = (env: Environment): Config => {
  const config = configFrom(env)
  if (config.EVENTSTORE_URL || config.MONGODB_URL)
    throw new CommandFailed(
      'this is for stores in DATA_DIR alone: with EVENTSTORE_URL or MONGODB_URL, use the tools of those databases',
    )
  return config
}

const masterKeyPlace = ({ MASTER_KEY, DATA_DIR }: Config): string =>
  MASTER_KEY ? 'the variable MASTER_KEY' : join(DATA_DIR, 'master.key')

const folderOf = (file: string): string => {
  const folder = dirname(file)
  if (existsSync(folder)) return folder
  throw new CommandFailed(`${folder} is not there`)
}

/** Backs up DATA_DIR; answers its position, and each missing file. @throws CommandFailed */
export const backup = async (
  { env, say }: CommandContext,
  out: string | undefined,
): Promise<string> => {
  const config = embeddedConfig(env)
  const file = required(out, '--out <file>')
  const room = diskRoom(folderOf(file), config.DISK_RESERVE_MB)
  const { missing, ...result } = await interruptible((signal) =>
    backUp({
      dataDir: config.DATA_DIR,
      file,
      now: Date.now(),
      room,
      progress: steps(say),
      signal,
    }),
  )
  say(`${file} has ${result.events} events, ${result.keys} data keys and ${result.blobs} files`)
  if (missing.length > 0) say(`${missing.length} files are missing: the log names them`)
  say(`The master key is not in it. It is in ${masterKeyPlace(config)}: keep a copy elsewhere.`)
  const lines = missing.map(
    ({ name, owner, position }) => `missing ${name} of ${owner}, position ${position}`,
  )
  return [`position ${result.position}`, ...lines].join('\n')
}

/**
 * Restores a backup into DATA_DIR; answers its position, and the size and root of each history.
 * @throws CommandFailed
 */
export const restored = async (
  { env, say }: CommandContext,
  { from, erasures }: { from?: string; erasures?: string },
): Promise<string> => {
  const config = embeddedConfig(env)
  const { DATA_DIR: dataDir } = config
  const file = required(from, '--from <file>')
  if (erasures !== undefined && !existsSync(erasures))
    throw new CommandFailed(`${erasures} is not there`)
  const done = await interruptible((signal) =>
    restore({
      file,
      dataDir,
      erasures,
      room: diskRoom(dataDir, config.DISK_RESERVE_MB),
      progress: steps(say),
      signal,
    }),
  )
  const { roots, erased, position } = done
  say(`${dataDir} is as it was at ${done.created_at}`)
  if (erased)
    say(
      `erasures up to position ${erased.upTo} are applied: ${erased.keys} data keys, ${erased.files} files`,
    )
  else say('no list of erasures was given: what was erased after the backup can be read again')
  say(`Before the start, put the master key of the backup into ${masterKeyPlace(config)}.`)
  const lines = roots.map(({ origin, size, root }) => `${origin} ${size} ${root}`)
  return [`position ${position}`, ...lines].join('\n')
}

type ErasureOptions = { after?: number | string; out?: string }

/** The erasures of DATA_DIR after a position, as lines or in a file. @throws CommandFailed */
export const erasures = async (
  { env, say }: CommandContext,
  { after: afterOption, out }: ErasureOptions,
  write: (line: string) => void,
): Promise<void> => {
  const { DATA_DIR } = embeddedConfig(env)
  const after = position.min(-1).safeParse(afterOption).data
  if (after === undefined)
    throw new CommandFailed('--after <position> is required: the one that the backup has', 2)
  const listed = (take: (line: string) => unknown) =>
    interruptible((signal) =>
      withLog(DATA_DIR, async (log) => {
        for await (const line of erasureLines(log, after)) {
          signal.throwIfAborted()
          await take(line)
        }
      }),
    )
  if (out === undefined) return listed(write)
  const file = String(out)
  folderOf(file)
  await interruptible(() =>
    makeFile(file, (handle) => listed((line) => handle.appendFile(`${line}\n`))),
  )
  say(`the erasures after position ${after} are in ${file}`)
}

/**
 * Runs a command that reads a log in its own process. Where a damaged page ends that process, its
 * partial output file is removed. @throws CommandFailed
 */
export const readingLog = (
  env: Environment,
  out: string | undefined,
  work: () => Promise<void>,
): Promise<void> =>
  inOwnProcess(work, {
    dataDir: env.DATA_DIR ?? './data',
    onDamage: () =>
      out === undefined ? Promise.resolve() : rm(partialOf(String(out)), { force: true }),
  })
