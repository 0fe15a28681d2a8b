import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'

/** Whether the system says what a process holds. */
export const hasProc = process.platform === 'linux'

const megabytes = (pid: number, field: 'VmRSS' | 'VmHWM'): number => {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )
  return Math.round(Number(found?.[1]) / 1_024)
}

/** In MB: what of a process is in memory. */
export const resident = (pid: number): number => megabytes(pid, 'VmRSS')

/** In MB: the most of a process that was in memory since `forgetPeak`. */
export const peakOf = (pid: number): number => megabytes(pid, 'VmHWM')

export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** A descriptor may close while it is looked at. */
const targetOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

/** The files, pipes and sockets that a process has open. Threads' own (event loops) are none of them. */
export const openFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`)
    .map((fd) => targetOf(`/proc/${pid}/fd/${fd}`))
    .filter((target) => target !== '' && !target.startsWith('anon_inode:'))
