import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'

/** MASTER_KEY, else the one in DATA_DIR, made at the first start and readable by its owner only. */
export const masterKeyOf = async ({
  MASTER_KEY,
  DATA_DIR,
}: Pick<Config, 'MASTER_KEY' | 'DATA_DIR'>): Promise<Uint8Array> => {
  if (MASTER_KEY) return MASTER_KEY
  const path = join(DATA_DIR, 'master.key')
  await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
  try {
    const made = randomBytes(32)
    await writeFile(path, made.toString('base64'), { flag: 'wx', mode: 0o600, flush: true })
    return made
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return Buffer.from(await readFile(path, 'utf8'), 'base64')
  }
}
