import { createHash, randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Blobs, BlobTooLarge } from '../../ports/blobs.ts'
import { onDisk, type Room, unlimited } from '../../ports/room.ts'
import { isInFormat, noteFormat } from './folder-format.ts'

/** Folders of releases up to 0.1.0 do not name theirs, which is this one. */
const format = 1

const sha256 = /^[0-9a-f]{64}$/

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code

const absent = (error: unknown): undefined => {
  if (codeOf(error) === 'ENOENT') return undefined
  throw error
}

const writing = <T>(work: () => Promise<T>) => onDisk('the blobs cannot be written', work)

/** Syncs a directory, and with it the names in it. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r')
  await directory.sync().finally(() => directory.close())
}

/** Where a blob is under a directory. */
export const blobPath = (directory: string, hash: string): string => {
  if (!sha256.test(hash)) throw new TypeError('a blob is named by its SHA-256 in hex')
  return join(directory, hash.slice(0, 2), hash.slice(2, 4), hash)
}

/** The names of the blobs under a directory, without changing it: its server may be running. */
export async function* blobNames(directory: string): AsyncGenerator<string> {
  const names = async (...folders: string[]): Promise<string[]> =>
    (await readdir(join(directory, ...folders)).catch(absent)) ?? []
  for (const first of await names())
    if (/^[0-9a-f]{2}$/.test(first))
      for (const second of await names(first))
        for (const name of await names(first, second)) if (sha256.test(name)) yield name
}

/** Bytes of a blob's file, name and folders besides its content. */
const spareBytes = 16_384

type Filling = { file: FileHandle; room: Room; maxBytes: number }

/** Writes a stream to its end, then to disk. @throws BlobTooLarge, StoreUnavailable */
const fill = async (
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { file, room, maxBytes }: Filling,
) => {
  const hash = createHash('sha256')
  let size = 0
  for await (const part of bytes) {
    size += part.length
    if (size > maxBytes) throw new BlobTooLarge(`more than ${maxBytes} bytes`)
    room(part.length)
    hash.update(part)
    await writing(() => file.writeFile(part))
  }
  await writing(() => file.sync())
  return { hash: hash.digest('hex'), size }
}

/**
 * Blobs as files under a directory, two levels deep by the first digits of their hash. A blob is
 * written beside them and gets its name once it is whole and on disk. One that a crash cut off is
 * never seen, and is removed by the next start. @throws StoreFormat, StoreDamaged
 */
export const embeddedBlobs = async (path: string, room: Room = unlimited): Promise<Blobs> => {
  const incoming = join(path, 'incoming')
  const noted = isInFormat(path, format)
  await mkdir(incoming, { recursive: true, mode: 0o700 })
  if (!noted) noteFormat(path, format)
  for (const left of await readdir(incoming)) await rm(join(incoming, left))

  const placeOf = (hash: string): string => blobPath(path, hash)

  const settle = async (from: string, hash: string): Promise<void> => {
    const place = placeOf(hash)
    const folder = dirname(place)
    const firstCreated = await mkdir(folder, { recursive: true, mode: 0o700 })
    // A reader may be between two reads of the one that is there.
    if (await stat(place).then(() => true, absent)) await rm(from)
    else await rename(from, place)
    await syncDirectory(folder)
    if (firstCreated) for (const above of [dirname(folder), path]) await syncDirectory(above)
  }

  const size = (name: string) => stat(placeOf(name)).then(({ size }) => size, absent)

  return {
    async put(bytes, maxBytes = Number.POSITIVE_INFINITY, nameOf = (hash) => hash) {
      room(spareBytes)
      const draft = join(incoming, randomUUID())
      const file = await writing(() => open(draft, 'wx', 0o600))
      try {
        const { hash, size } = await fill(bytes, { file, room, maxBytes }).finally(() =>
          file.close(),
        )
        const blob = { name: nameOf(hash), size }
        await writing(() => settle(draft, blob.name))
        return blob
      } catch (error) {
        await rm(draft, { force: true })
        throw error
      }
    },

    size,

    async get(name, range) {
      const reading = () => open(placeOf(name), 'r').catch(absent)
      const file = await onDisk('the blobs cannot be read', reading)
      return file?.createReadStream(range)
    },

    async remove(name) {
      const place = placeOf(name)
      await rm(place).then(() => syncDirectory(dirname(place)), absent)
    },
  }
}
