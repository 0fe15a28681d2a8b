import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { bootId } from './boot-id.ts'

/** The store is open already, in another process or in this one. */
export class StoreInUse extends Error {
  override readonly name = 'StoreInUse'
}

const prefix = 'held-by.'
const attempts = 5

const firstLine = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}

/** When a process began, in ticks since boot; undefined when there is none or only its zombie. */
const beganAt = (pid: number): string | undefined => {
  const stat = firstLine(`/proc/${pid}/stat`)
  const [state, ...fields] = stat?.slice(stat.lastIndexOf(')') + 2).split(' ') ?? []
  return state === 'Z' || state === 'X' ? undefined : fields[18]
}

const answersSignals = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

const thisBoot = () => bootId()?.slice(0, 8) ?? 'none'

const isAlive = (pid: number, began: string, boot: string): boolean =>
  began === 'unknown' ? answersSignals(pid) : boot === thisBoot() && began === beganAt(pid)

/** Another process that holds the directory, if any; marks of dead processes are removed. */
const otherHolder = (path: string, own: string): number | undefined => {
  for (const name of readdirSync(path)) {
    if (!name.startsWith(prefix) || name === own) continue
    const [pid = '', began = '', boot = ''] = name.slice(prefix.length).split('.')
    if (isAlive(Number(pid), began, boot)) return Number(pid)
    rmSync(join(path, name), { force: true })
  }
  return undefined
}

/**
 * Locks a directory for this opening, until the returned function is called or the process ends. A
 * process first puts down a mark of its own and then looks for others, so of two at once the later
 * one always sees the earlier; one that sees another removes its mark and tries again.
 * @throws StoreInUse
 */
export const holdAlone = async (path: string): Promise<() => void> => {
  const began = beganAt(process.pid) ?? 'unknown'
  const own = [`held-by.${process.pid}`, began, thisBoot(), randomBytes(4).toString('hex')].join(
    '.',
  )
  const mark = join(path, own)
  const release = () => rmSync(mark, { force: true })
  for (let attempt = 1; ; attempt++) {
    closeSync(openSync(mark, 'wx'))
    const other = otherHolder(path, own)
    if (other === undefined) return release
    release()
    if (attempt === attempts) throw new StoreInUse(`${path} is in use by process ${other}`)
    await setTimeout(Math.random() * 20 * attempt)
  }
}
