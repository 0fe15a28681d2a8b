import { z } from 'zod'
import { ownerOf } from '../../domain/event.ts'
import type { RecordedEvent } from '../../ports/event-store.ts'
import { datastoreKey } from '../../security/vault.ts'

/**
 * A file that the log names: whose it is (a stream, or `upload-<id>`), the data key that it is
 * sealed under, and the position of the event that named it.
 */
export type NamedFile = { name: string; owner: string; key: string; position: number }

/** The owner of the files of an upload. */
export const uploadOwner = (uploadId: string): string => `upload-${uploadId}`

type Change =
  | { put: { owner: string; kind: string; name: string | null; key: string } }
  | { name: { owner: string; kind: string; name: string } }
  | { drop: { owner: string; kind?: string } }

const sealedUnder = z.object({ $sealed: z.string() }).transform(({ $sealed }) => $sealed)
const message = z.object({
  content: sealedUnder,
  parts: z.array(z.object({ blob: z.string() })).default([]),
})
const request = z.object({ prompt: sealedUnder })
const result = z.object({ hash: z.string() })
const upload = z.object({ uploadId: z.string(), datastoreId: z.string() })

type Changes = (event: RecordedEvent) => readonly Change[]

/** Changes that the data of an event makes; none where it cannot be read. */
const by =
  <Data>(schema: z.ZodType<Data>, changes: (data: Data, event: RecordedEvent) => Change[]) =>
  (event: RecordedEvent): readonly Change[] => {
    const { data } = schema.safeParse(event.data)
    return data === undefined ? [] : changes(data, event)
  }

const ofMessage: Changes = by(message, ({ content: key, parts }, { stream: owner }) =>
  parts.map(({ blob: name }) => ({ put: { owner, kind: name, name, key } })),
)

const ofUpload = (kind: string, field: string): Changes =>
  by(upload, ({ uploadId, datastoreId }, event) => {
    const name: unknown = Reflect.get(Object(event.data), field)
    const key = datastoreKey(ownerOf(event), datastoreId)
    return typeof name === 'string'
      ? [{ put: { owner: uploadOwner(uploadId), kind, name, key } }]
      : []
  })

const dropped: Changes = ({ stream }) => [{ drop: { owner: stream } }]

const withoutKind = (...kinds: readonly string[]): Changes =>
  by(upload, ({ uploadId }) =>
    kinds.map((kind) => ({ drop: { owner: uploadOwner(uploadId), kind } })),
  )

const ofReread = ofUpload('chunks', 'chunksBlob')

const changesBy = new Map<string, Changes>(
  Object.entries({
    UserMessageSent: ofMessage,
    MessageForked: ofMessage,
    SessionErased: dropped,
    ContentRequested: by(request, ({ prompt: key }, { stream: owner }) => [
      { put: { owner, kind: 'result', name: null, key } },
    ]),
    ContentCompleted: by(result, ({ hash: name }, { stream: owner }) => [
      { name: { owner, kind: 'result', name } },
    ]),
    ContentErased: dropped,
    UploadReceived: ofUpload('document', 'blob'),
    UploadRequeued: withoutKind('chunks', 'vectors'),
    UploadIndexingStarted: ofUpload('chunks', 'chunksBlob'),
    UploadEmbedded: ofUpload('vectors', 'vectorsBlob'),
    UploadReread(event) {
      const changes = ofReread(event)
      return changes.length > 0 ? [...withoutKind('vectors')(event), ...changes] : []
    },
    UploadRemoved: by(upload, ({ uploadId }) => [{ drop: { owner: uploadOwner(uploadId) } }]),
  }),
)

/** Without a name until that is known. */
type Entry = { kind: string; name: string | null; key: string; position: number }

/** The files that events name, without those that later events say are removed. */
export const namedFiles = () => {
  const owners = new Map<string, readonly Entry[]>()

  const set = (owner: string, entries: readonly Entry[]) => {
    if (entries.length > 0) owners.set(owner, entries)
    else owners.delete(owner)
  }

  const change = (update: Change, position: number): void => {
    if ('put' in update) {
      const { owner, kind, name, key } = update.put
      const others = (owners.get(owner) ?? []).filter((entry) => entry.kind !== kind)
      set(owner, [...others, { kind, name, key, position }])
    } else if ('name' in update) {
      const { owner, kind, name } = update.name
      const entries = owners.get(owner) ?? []
      set(
        owner,
        entries.map((entry) => (entry.kind === kind ? { ...entry, name, position } : entry)),
      )
    } else {
      const { owner, kind } = update.drop
      const left = kind === undefined ? [] : (owners.get(owner) ?? [])
      set(
        owner,
        left.filter((entry) => entry.kind !== kind),
      )
    }
  }

  return {
    note(events: readonly RecordedEvent[]): void {
      for (const event of events)
        for (const update of changesBy.get(event.type)?.(event) ?? [])
          change(update, event.position)
    },
    *all(): Generator<NamedFile> {
      for (const [owner, entries] of owners)
        for (const { name, key, position } of entries)
          if (name !== null) yield { name, owner, key, position }
    },
  }
}

export type NamedFiles = ReturnType<typeof namedFiles>
