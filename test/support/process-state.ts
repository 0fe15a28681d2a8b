import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'

/** Whether the system says what a process holds. */
export const hasProc = process.platform === 'linux'

type Field = 'RssAnon' | 'RssFile' | 'RssShmem' | 'VmHWM' | 'VmSwap'

/** In MB: the sum of these fields. */
const memoryIn = (pid: number, ...fields: readonly Field[]): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kilobytes = fields.map((field) => Number(status.match(`${field}:\\s+(\\d+) kB`)?.[1]))
  return Math.round(kilobytes.reduce((sum, some) => sum + some, 0) / 1_024)
}

/**
 * In MB: a process's anonymous memory. The stores' mapped files do not count: the system drops
 * their pages when others need memory. Tests have them in tmpfs, where their pages are shared.
 */
export const memoryOf = (pid: number): number => memoryIn(pid, 'RssAnon', 'VmSwap')

/** In MB: the most anonymous memory since `forgetPeak`, but for files mapped since the peak. */
export const peakOf = (pid: number): number =>
  memoryIn(pid, 'VmHWM') - memoryIn(pid, 'RssFile', 'RssShmem')

export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** A descriptor may close while it is looked at. */
const targetOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The files, pipes and sockets that a process has open, without those of its event loops. */
export const openFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`)
    .map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
    .filter((target) => target !== '' && !target.startsWith('anon_inode:'))
