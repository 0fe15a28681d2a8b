import { z } from 'zod'
import type { StoredLog } from '../../adapters/embedded/stored-log.ts'
import { ownerOf, position } from '../../domain/event.ts'
import { type RecordedEvent, START } from '../../ports/event-store.ts'
import { datastoreKey, sessionKey } from '../../security/vault.ts'
import { linesIn } from '../../support/lines.ts'

const format = 1

/** The first line. `log` is the id of the log's first event; the list ends at `position`. */
const header = z.object({
  reprise_erasures: z.literal(format),
  log: z.string().nullable(),
  after: position,
  position,
})

/** A destroyed data key; without a position if no event of its erasure is stored yet. */
const destroyedKey = z.object({ position: position.nullable(), key: z.string() })
/** A removed upload, whose files are removed too. */
const removedUpload = z.object({ position, upload: z.string() })
/** The last line: the number of lines between it and the first. */
const end = z.object({ end: z.int() })

const line = z.union([destroyedKey, removedUpload, end])

/** What was erased from a store after a position. */
export type Erasures = z.infer<typeof header> & {
  keys: ReadonlySet<string>
  uploads: ReadonlySet<string>
}

/** A file is not a whole list of erasures. */
export class ErasuresUnreadable extends Error {
  override readonly name = 'ErasuresUnreadable'
}

const keyIds = z.object({ keyIds: z.array(z.string()) })
const ofDatastore = z.object({ datastoreId: z.string() })
const removed = z.object({
  uploadId: z.string(),
  reason: z.enum(['deleted', 'datastore_deleted']),
})

/** The data keys that were destroyed for an event. */
const destroyedBy = (event: RecordedEvent): readonly string[] => {
  const { type, data, stream } = event
  if (type === 'SessionErased') {
    const organization = ownerOf(event)
    return [sessionKey(organization, stream.slice(`session-${organization}_`.length))]
  }
  if (type === 'DataStoreCleared') {
    const { datastoreId } = ofDatastore.safeParse(data).data ?? {}
    return datastoreId === undefined ? [] : [datastoreKey(ownerOf(event), datastoreId)]
  }
  return type.endsWith('Erased') ? (keyIds.safeParse(data).data?.keyIds ?? []) : []
}

/**
 * The erasures after a position, as lines of JSON: destroyed data keys, and removed uploads. Keys
 * are destroyed before their events are stored: a destroyed key is listed unless its event is at or
 * before the position. @throws StoreDamaged
 */
export async function* erasureLines(log: StoredLog, after: number): AsyncGenerator<string> {
  const upTo = log.head()
  yield JSON.stringify({ reprise_erasures: format, log: log.id(), after, position: upTo })
  const erasedAt = new Map<string, number>()
  const uploads: z.infer<typeof removedUpload>[] = []
  for await (const records of log.records(START, upTo))
    for (const event of records.flatMap(({ events }) => events)) {
      for (const key of destroyedBy(event))
        if (!erasedAt.has(key)) erasedAt.set(key, event.position)
      if (event.type !== 'UploadRemoved' || event.position <= after) continue
      const { uploadId: upload } = removed.safeParse(event.data).data ?? {}
      if (upload !== undefined) uploads.push({ position: event.position, upload })
    }
  let count = uploads.length
  for await (const rows of log.rows('keys'))
    for (const { key, value } of rows) {
      const position = erasedAt.get(key) ?? null
      if (value.length > 0 || (position !== null && position <= after)) continue
      count++
      yield JSON.stringify({ position, key })
    }
  for (const upload of uploads) yield JSON.stringify(upload)
  yield JSON.stringify({ end: count })
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a list of erasures. @throws ErasuresUnreadable */
export const readErasures = async (file: string): Promise<Erasures> => {
  const [keys, uploads] = [new Set<string>(), new Set<string>()]
  let first: z.infer<typeof header> | undefined
  let count = 0
  let isComplete = false
  for await (const lines of linesIn(file))
    for (const text of lines) {
      if (!first) {
        first = header.safeParse(parsed(text)).data
        if (!first) throw new ErasuresUnreadable(`${file} is no list of erasures`)
        continue
      }
      const { data } = line.safeParse(parsed(text))
      if (!data || isComplete)
        throw new ErasuresUnreadable(`${file} is damaged after line ${count + 1}`)
      if ('end' in data) isComplete = data.end === count
      else count++
      if ('key' in data) keys.add(data.key)
      if ('upload' in data) uploads.add(data.upload)
    }
  if (first && isComplete) return { ...first, keys, uploads }
  throw new ErasuresUnreadable(`${file} is not whole: its last line is missing`)
}
