import { createCipheriv, createDecipheriv, createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { onDisk, type Room, unlimited } from '../ports/room.ts'

const cipherName = 'aes-256-ctr'

const writing = <T>(work: () => Promise<T>) => onDisk('files that arrive cannot be stored', work)
const reading = <T>(work: () => Promise<T>) => onDisk('files that arrived cannot be read', work)

/** A file that waits on disk: `hash` is the SHA-256 of its bytes. */
export type Spooled = {
  hash: string
  size: number
  /** From the beginning each time. @throws StoreUnavailable */
  bytes(): AsyncIterable<Uint8Array>
  /** Gone when it resolves. */
  remove(): Promise<void>
}

/**
 * Files that wait on disk until they are stored: each is encrypted under a key that only this
 * process has. What an earlier process left in the folder is removed.
 */
export const openSpool = async (directory: string, room: Room = unlimited) => {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  for (const left of await readdir(directory)) await rm(join(directory, left))

  return {
    /** Rejects with what the bytes throw; nothing is left then. @throws StoreUnavailable */
    async keep(bytes: AsyncIterable<Uint8Array>): Promise<Spooled> {
      const path = join(directory, randomUUID())
      const file = await writing(() => open(path, 'wx', 0o600))
      const remove = () => rm(path, { force: true })
      const secret = { key: randomBytes(32), iv: randomBytes(16) }
      const cipher = createCipheriv(cipherName, secret.key, secret.iv)
      const hash = createHash('sha256')
      let size = 0
      try {
        for await (const piece of bytes) {
          size += piece.length
          room(piece.length)
          hash.update(piece)
          await writing(() => file.writeFile(cipher.update(piece)))
        }
      } catch (error) {
        await remove()
        throw error
      } finally {
        await file.close()
      }
      return {
        hash: hash.digest('hex'),
        size,
        async *bytes() {
          const decipher = createDecipheriv(cipherName, secret.key, secret.iv)
          const file = await reading(() => open(path))
          for await (const piece of file.createReadStream()) yield decipher.update(piece)
        },
        remove,
      }
    },
  }
}
export type Spool = Awaited<ReturnType<typeof openSpool>>
