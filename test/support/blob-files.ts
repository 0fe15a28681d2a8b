import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The paths of all files of a folder and those in it, without the note of its format. */
export const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name !== 'format')
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** The paths of all that the blob store of a data folder holds. */
export const blobFiles = (dataDir: string): Promise<string[]> => filesIn(join(dataDir, 'blobs'))
