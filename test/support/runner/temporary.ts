import { mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const memory = '/dev/shm'
const roomy = 4 * 2 ** 30

const inMemory = (): boolean => {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= roomy
  } catch {
    return false
  }
}

/**
 * A new folder for all that tests store, in memory where there is room. No test needs more than that
 * bytes written before a kill -9 are there after it, which holds of memory as of a disk.
 */
export const temporary = () => {
  const path = mkdtempSync(join(inMemory() ? memory : tmpdir(), 'reprise-tests-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}
