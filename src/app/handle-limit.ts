import { readFileSync } from 'node:fs'

/** Handles for our own work: stores, threads, processes, listening. */
const reservedHandles = 100

const limitLine = /^Max open files\s+(?<soft>\d+)/m

/** How many file handles this process may have; undefined where the system does not tell. */
export const handleLimit = (limits = '/proc/self/limits'): number | undefined => {
  try {
    const { soft } = limitLine.exec(readFileSync(limits, 'utf8'))?.groups ?? {}
    return soft === undefined ? undefined : Number(soft)
  } catch {
    return undefined
  }
}

/**
 * How many connections clients may have open at once. Each leaves one more handle for its request,
 * such as for a model or a file.
 */
export const connectionLimit = (handles = handleLimit()): number | undefined =>
  handles === undefined ? undefined : Math.max(1, Math.floor((handles - reservedHandles) / 2))
