import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { crc32 } from 'node:zlib'
import { z } from 'zod'
import { syncDirectory } from '../../adapters/embedded/blobs.ts'
import { openDiskSpace } from '../../adapters/embedded/disk-space.ts'
import type { RowTable } from '../../adapters/embedded/stored-log.ts'
import { position } from '../../domain/event.ts'
import { StoreDamaged } from '../../ports/event-store.ts'
import { silent } from '../../ports/log.ts'
import { onDisk, type Room } from '../../ports/room.ts'

export const backupFormat = 1

const title = 'reprise backup'
const firstLine = `${title} ${backupFormat}\n`
/** Before each frame: its length, and a checksum of it and of all frames before it. */
const prefixBytes = 8
/** No append, stored answer or part of a blob is as long as this. */
const mostBytes = 64 * 1024 * 1024
/** So much is read at once. A blob is stored in parts of this length. */
export const partBytes = 1_048_576

const count = z.int().min(0)
const counts = z.object({
  events: count,
  records: count,
  answers: count,
  undelivered: count,
  installation: count,
  keys: count,
  blobs: count,
  parts: count,
})
/** How many frames of each kind there are, how many events and blobs. */
export type Counts = z.infer<typeof counts>

export const noCounts = (): Counts => ({
  events: 0,
  records: 0,
  answers: 0,
  undelivered: 0,
  installation: 0,
  keys: 0,
  blobs: 0,
  parts: 0,
})

const row = <T extends RowTable>(table: T) =>
  z.object({ kind: z.literal(table), key: z.string().regex(/^[^\0]+$/) })

/** The head of a frame. Behind it are bytes: the value of a row, or a part of a blob. */
const head = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begin'), created_at: z.iso.datetime() }),
  /** `id`: of the first event, which tells logs apart. */
  z.object({ kind: z.literal('log'), position, id: z.string().nullable() }),
  z.object({ kind: z.literal('records'), position }),
  row('answers'),
  row('undelivered'),
  row('installation'),
  row('keys'),
  z.object({ kind: z.literal('blobs'), name: z.string().regex(/^[0-9a-f]{64}$/), part: count }),
  z.object({ kind: z.literal('end'), counts }),
])

type Head = z.infer<typeof head>
type Kind = Head['kind']
export type Frame<K extends Kind = Kind> = Extract<Head, { kind: K }> & { bytes: Buffer }

/** A file is no backup, or a list of erasures is not one for it. */
export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

const nothing = Buffer.alloc(0)

/** Writes frames: each a head as a line of JSON, then bytes. */
export const backupWriter = (file: FileHandle, room: Room) => {
  let frames: Buffer[] = [Buffer.from(firstLine)]
  let checksum = 0
  return {
    /** What was added is in memory until the next flush. */
    add(head: Head, bytes: Uint8Array = nothing): void {
      const body = Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes])
      if (body.length > mostBytes) throw new RangeError(`${head.kind}: ${body.length} bytes`)
      checksum = crc32(body, checksum)
      const prefix = Buffer.alloc(prefixBytes)
      prefix.writeUInt32LE(body.length)
      prefix.writeUInt32LE(checksum, 4)
      frames.push(prefix, body)
    },
    async flush(): Promise<void> {
      const bytes = Buffer.concat(frames)
      frames = []
      room(bytes.length)
      await file.appendFile(bytes)
    },
  }
}

export type BackupWriter = ReturnType<typeof backupWriter>

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a file in pieces: memory grows with its content, not with the lengths that it claims. */
const bytesIn = (file: FileHandle) => {
  let rest: Buffer = nothing
  let read = 0
  return {
    read: () => read - rest.length,
    /** The next bytes; fewer only where the file ends. */
    async take(length: number): Promise<Buffer> {
      const pieces = [rest]
      let available = rest.length
      while (available < length) {
        const piece = Buffer.alloc(partBytes)
        const { bytesRead } = await file.read(piece, 0, partBytes)
        if (bytesRead === 0) break
        pieces.push(piece.subarray(0, bytesRead))
        available += bytesRead
        read += bytesRead
      }
      const all = pieces.length > 1 ? Buffer.concat(pieces) : rest
      rest = all.subarray(length)
      return all.subarray(0, length)
    },
  }
}

/** Reads the frames of a backup in their order. @throws RestoreRefused where it is none */
export const backupReader = async (file: FileHandle, path: string) => {
  const source = bytesIn(file)
  const damaged = (what: string) => new StoreDamaged(`${path} is damaged: ${what}`)
  const line = await source.take(firstLine.length)
  if (!line.equals(Buffer.from(firstLine))) {
    const [, format] = new RegExp(`^${title} (\\d{1,4})\\n`).exec(`${line}`) ?? []
    throw new RestoreRefused(
      format === undefined
        ? `${path} is no backup`
        : `${path} is a backup in format ${format}: this release reads format ${backupFormat}`,
    )
  }

  let checksum = 0
  let next: Frame | undefined

  const frame = async (): Promise<Frame> => {
    const prefix = await source.take(prefixBytes)
    if (prefix.length < prefixBytes) throw damaged('its end is missing')
    const length = prefix.readUInt32LE()
    if (length > mostBytes) throw damaged('a part of it is too long')
    const body = await source.take(length)
    if (body.length < length) throw damaged('its end is missing')
    checksum = crc32(body, checksum)
    if (checksum !== prefix.readUInt32LE(4)) throw damaged('a checksum is wrong')
    const end = Math.max(0, body.indexOf('\n'))
    const { data } = head.safeParse(parsed(body.toString('utf8', 0, end)))
    if (!data) throw damaged('a part of it has an unknown form')
    return { ...data, bytes: body.subarray(end + 1) } as Frame
  }

  /** The next frame if it is of a kind, and one that is sought. @throws StoreDamaged */
  const find = async <K extends Kind>(
    kind: K,
    isSought = (_: Frame<K>): boolean => true,
  ): Promise<Frame<K> | undefined> => {
    next ??= await frame()
    const candidate = next as Frame<K>
    if (next.kind !== kind || !isSought(candidate)) return undefined
    next = undefined
    return candidate
  }

  return {
    /** The next frame, of any kind. @throws StoreDamaged */
    next: frame,
    /** How many bytes were read. */
    read: source.read,
    damaged,
    find,
    /** @throws StoreDamaged where the next frame is of another kind */
    async take<K extends Kind>(kind: K): Promise<Frame<K>> {
      const result = await find(kind)
      if (result) return result
      throw damaged(`where its ${kind} should be, it has ${next?.kind}`)
    },
    /** The frames of a kind that come next, some at a time. @throws StoreDamaged */
    async *all<K extends Kind>(kind: K): AsyncGenerator<readonly Frame<K>[]> {
      let [page, bytes]: [Frame<K>[], number] = [[], 0]
      for (let entry = await find(kind); entry; entry = await find(kind)) {
        page.push(entry)
        bytes += entry.bytes.length
        if (page.length < 1_000 && bytes < partBytes) continue
        yield page
        page = []
        bytes = 0
      }
      if (page.length > 0) yield page
    },
    /** @throws StoreDamaged where anything is behind the last frame */
    async assertOver(): Promise<void> {
      const { length } = await source.take(1)
      if (length > 0) throw damaged('something is behind its end')
    },
  }
}

export type BackupReader = Awaited<ReturnType<typeof backupReader>>

/** Room on the disk of a folder, which exists once this is asked, besides its reserve. */
export const diskRoom = (folder: string, reserveMb: number | undefined): Room => {
  const reserve = reserveMb && reserveMb * 1_048_576
  let room: Room | undefined
  return (bytes) => {
    room ??= openDiskSpace({ folder, reserve, log: silent }).room('files', folder)
    room(bytes)
  }
}

/** A file is there already. */
export class TargetExists extends Error {
  override readonly name = 'TargetExists'
}

/** The name of a file that is not whole yet. */
export const partialOf = (file: string): string => `${file}.partial`

/**
 * Makes a file under the name `<file>.partial` first. It has its own name once it is whole and on
 * disk; when the work fails, nothing is left.
 * @throws TargetExists, StoreUnavailable
 */
export const makeFile = async <T>(
  file: string,
  work: (handle: FileHandle) => Promise<T>,
): Promise<T> => {
  const partial = partialOf(file)
  if (existsSync(file)) throw new TargetExists(`${file} exists already`)
  const handle = await onDisk(`${partial} cannot be made`, () =>
    open(partial, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      throw new TargetExists(
        `${partial} exists already: remove it, unless another command is writing it`,
      )
    }),
  )
  try {
    const result = await onDisk(`${partial} cannot be written`, async () => {
      const result = await work(handle)
      await handle.sync()
      return result
    })
    if (existsSync(file)) throw new TargetExists(`${file} exists already`)
    await rename(partial, file)
    await syncDirectory(dirname(file))
    return result
  } catch (error) {
    await rm(partial, { force: true })
    throw error
  } finally {
    await handle.close()
  }
}
