import type { KeyedBlobs } from '../../security/sealed-blobs.ts'
import type { ArrivedPart } from './receive-parts.ts'

/** The files of one message, which are stored before the event that names them. */
export const storedFiles = (parts: readonly ArrivedPart[], files: KeyedBlobs) => {
  const added: string[] = []

  /** Removes those that were not there before: the message is refused after all. */
  const remove = async (): Promise<void> => {
    for (const name of added.splice(0)) await files.remove(name)
  }

  return {
    remove,
    /** All or none. @throws StoreUnavailable, KeyDestroyed */
    async put(): Promise<void> {
      try {
        for (const { hash, read } of parts) {
          const name = await files.nameOf(hash)
          if ((await files.size(name)) !== undefined) continue
          added.push(name)
          await files.put(read())
        }
      } catch (error) {
        await remove().catch(() => undefined)
        throw error
      }
    },
  }
}

export type StoredFiles = ReturnType<typeof storedFiles>
