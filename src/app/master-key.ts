import { randomBytes } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { keyBytes } from '../security/cipher.ts'

/** The master key's file does not hold a key. */
export class MasterKeyDamaged extends Error {
  override readonly name = 'MasterKeyDamaged'
}

const pathIn = (folder: string): string => join(folder, 'master.key')

/**
 * Writes a key to a temporary file and moves it into place once it is on disk, so that a full disk
 * or a crash leaves no partial key.
 */
const storeKey = async (
  folder: string,
  key: Uint8Array,
  put: (aside: string, path: string) => Promise<void>,
): Promise<void> => {
  const path = pathIn(folder)
  const aside = `${path}.${process.pid}`
  try {
    const file = await open(aside, 'w', 0o600)
    try {
      await file.writeFile(Buffer.from(key).toString('base64'))
      await file.sync()
    } finally {
      await file.close()
    }
    await put(aside, path)
    const directory = await open(folder)
    await directory.sync().finally(() => directory.close())
  } finally {
    await rm(aside, { force: true })
  }
}

/** Of two that begin at once one wins. */
const makeKey = (folder: string): Promise<void> =>
  storeKey(folder, randomBytes(keyBytes), (aside, path) =>
    link(aside, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    }),
  )

/** Replaces the key in DATA_DIR, on disk when it resolves. */
export const replaceMasterKey = (folder: string, key: Uint8Array): Promise<void> =>
  storeKey(folder, key, rename)

const keyIn = async (path: string): Promise<Uint8Array | undefined> => {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const key = Buffer.from(text, 'base64')
  if (key.length === keyBytes) return key
  throw new MasterKeyDamaged(
    `${path} does not hold a master key (32 bytes in base64): restore it from a backup`,
  )
}

/**
 * MASTER_KEY, else the one in DATA_DIR, made at the first start and readable by its owner only.
 * @throws MasterKeyDamaged
 */
export const masterKeyOf = async ({
  MASTER_KEY,
  DATA_DIR,
}: Pick<Config, 'MASTER_KEY' | 'DATA_DIR'>): Promise<Uint8Array> => {
  if (MASTER_KEY) return MASTER_KEY
  const path = pathIn(DATA_DIR)
  await mkdir(DATA_DIR, { recursive: true, mode: 0o700 })
  const known = await keyIn(path)
  if (known) return known
  await makeKey(DATA_DIR)
  return masterKeyOf({ MASTER_KEY, DATA_DIR })
}
