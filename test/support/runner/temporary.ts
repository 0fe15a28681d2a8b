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
 * A new folder for the tests' data, in memory where there is room. Bytes written before a kill -9
 * survive it in memory as on a disk, and no test needs more.
 */
export const temporary = () => {
  const path = mkdtempSync(join(inMemory() ? memory : tmpdir(), 'reprise-tests-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}
