import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncDirectory } from '../../adapters/embedded/blobs.ts'
import { holdAlone } from '../../adapters/embedded/lock.ts'
import { logFolder } from '../read-models.ts'
import { TargetExists } from './backup-file.ts'

const unfinished = 'restoring'

/** A folder in which a restore has begun and did not end. */
export class RestoreUnfinished extends Error {
  override readonly name = 'RestoreUnfinished'
}

/** @throws RestoreUnfinished where a start would find no log, or half of one */
export const assertRestored = (dataDir: string): void => {
  if (existsSync(join(dataDir, unfinished)) && !existsSync(join(dataDir, logFolder)))
    throw new RestoreUnfinished(`${dataDir} holds half a restore: repeat it, or empty the folder`)
}

/** The last of these is moved last: a start that finds it finds all of them. */
const restored = ['blobs', logFolder]

/**
 * Runs a work with a folder inside an empty one, and moves what it made out of it, the log last.
 * When the work fails, the folder is empty again. After a kill it can be repeated.
 * @throws TargetExists, StoreInUse
 */
export const intoEmpty = async <T>(
  folder: string,
  work: (inside: string) => Promise<T>,
): Promise<T> => {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const names = await readdir(folder)
  const own = names.includes(unfinished) ? [unfinished, 'blobs'] : []
  if (names.some((name) => !own.includes(name))) throw new TargetExists(`${folder} is not empty`)
  const inside = join(folder, unfinished)
  await mkdir(inside, { recursive: true, mode: 0o700 })
  const release = await holdAlone(inside)
  const remove = async (...paths: string[]) => {
    for (const path of paths) await rm(join(folder, path), { recursive: true, force: true })
  }
  try {
    await remove('blobs', ...restored.map((name) => join(unfinished, name)))
    const result = await work(inside)
    for (const name of restored) {
      await syncDirectory(inside)
      await rename(join(inside, name), join(folder, name))
      await syncDirectory(folder)
    }
    return result
  } catch (error) {
    await remove('blobs')
    throw error
  } finally {
    release()
    await remove(unfinished)
  }
}
