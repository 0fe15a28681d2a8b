import { z } from 'zod'
import { contentEvents } from '../src/domain/content/events.ts'
import { credentialEvents } from '../src/domain/credential/events.ts'
import type { Seen } from '../src/domain/event.ts'
import { fileEvents } from '../src/domain/file/events.ts'
import { memoryEvents } from '../src/domain/memory/events.ts'
import { type SealedPlaces, sealedPlaces } from '../src/domain/sealed-places.ts'
import { sessionEvents } from '../src/domain/session/events.ts'
import { count, text } from './fields.ts'
import { projection } from './projection.ts'

/**
 * Stored bytes of a session, a generated item, an upload, a memory or a credential, or the total of
 * an organization. Sealed texts count by their stored size, in base64.
 */
const storageView = z.object({
  organization_id: text,
  bytes: count,
  /**
   * Of `bytes`, those of the present chunks and vectors of an upload, which replace earlier ones.
   */
  chunks: count.optional(),
  vectors: count.optional(),
})
export type StorageView = z.infer<typeof storageView>

const events = {
  ...sessionEvents,
  ...contentEvents,
  ...fileEvents,
  ...memoryEvents,
  ...credentialEvents,
}
type Event = Seen<typeof events>

const prefix = 'total/'

/** The document with the total of an organization. */
export const storageTotalId = (organizationId: string): string => `${prefix}${organizationId}`

/** The documents that an event's data counts in and is erased with: mostly one. */
const partsOf = ({ type, stream, data }: Event): string[] => {
  const inStream = (id: string): string => `${stream}/${id}`
  if (type === 'MemoriesErased') return (data.memoryIds ?? []).map(inStream)
  if (type === 'CredentialsErased') return (data.names ?? []).map(inStream)
  if ('uploadId' in data) return [inStream(data.uploadId)]
  if ('memoryId' in data) return [inStream(data.memoryId)]
  return [type.startsWith('Credential') && 'name' in data ? inStream(data.name) : stream]
}

const placesByType = new Map<string, SealedPlaces>()
for (const [type, schema] of Object.entries<z.ZodType>(events)) {
  const places = sealedPlaces(schema)
  if (places) placesByType.set(type, places)
}

const sealedBytes = (value: unknown, places: SealedPlaces): number => {
  if (typeof value !== 'object' || value === null) return 0
  if (places === 'here')
    return 'box' in value && typeof value.box === 'string' ? value.box.length : 0
  if ('items' in places)
    return Array.isArray(value)
      ? value.reduce((sum: number, item) => sum + sealedBytes(item, places.items), 0)
      : 0
  let sum = 0
  for (const [name, inner] of places.fields) sum += sealedBytes(Reflect.get(value, name), inner)
  return sum
}

/** Files described by an event. */
const fileBytes = ({ type, data }: Event): number => {
  switch (type) {
    case 'UserMessageSent':
    case 'MessageForked':
      return (data.parts ?? []).reduce((sum, { bytes }) => sum + bytes, 0)
    case 'ContentCompleted':
      return data.size
    case 'UploadReceived':
      return data.fileSize
    default:
      return 0
  }
}

const bytesIn = (event: Event): number => {
  const places = placesByType.get(event.type)
  return fileBytes(event) + (places ? sealedBytes(event.data, places) : 0)
}

const first = (event: Event): StorageView => ({
  organization_id: event.metadata.organization_id,
  bytes: bytesIn(event),
})

const more = (view: StorageView, event: Event): StorageView => {
  const bytes = bytesIn(event)
  return bytes === 0 ? view : { ...view, bytes: view.bytes + bytes }
}

const replaced = (
  view: StorageView,
  field: 'chunks' | 'vectors',
  bytes: number | undefined,
): StorageView =>
  bytes === undefined
    ? view
    : { ...view, bytes: view.bytes - (view[field] ?? 0) + bytes, [field]: bytes }

/** Events that store sealed texts or files. */
// biome-ignore format: few lines
const storing = [
  'UserMessageSent', 'RunStarted', 'ModelAnswered', 'ToolStarted', 'ToolCompleted',
  'ClientToolsCalled', 'ClientToolAnswered', 'ApprovalRequested', 'ApprovalDecided', 'RunPaused',
  'ToolOutcomeTold', 'AssistantMessageRecorded', 'MessageForked', 'ContentRequested',
  'ContentCompleted', 'UploadReceived', 'MemoryRemembered', 'CredentialStored', 'CredentialRotated',
] as const

/** The same handler for several events. */
const each = <Type extends string, Handler>(types: readonly Type[], handler: Handler) =>
  Object.fromEntries(types.map((type) => [type, handler])) as Record<Type, Handler>

/** How much is stored for each organization. */
export const storage = projection<StorageView, typeof events>()({
  name: 'storage',
  schema: storageView,
  categories: ['session', 'content', 'file', 'memory', 'credentials'],
  events,
  indexes: {},
  totals: {
    isTotal: (id) => id.startsWith(prefix),
    idOf: ({ organization_id }) => storageTotalId(organization_id),
    moved(total, from, to) {
      const organization_id = (to ?? from)?.organization_id
      const bytes = (total?.bytes ?? 0) - (from?.bytes ?? 0) + (to?.bytes ?? 0)
      return organization_id === undefined || bytes === 0 ? undefined : { organization_id, bytes }
    },
  },
  id: (event) => [...partsOf(event), storageTotalId(event.metadata.organization_id)],
  creates: each(storing, first),
  changes: {
    ...each(storing, more),
    UploadIndexingStarted: (view, { data }) => replaced(view, 'chunks', data.chunksBytes),
    UploadEmbedded: (view, { data }) => replaced(view, 'vectors', data.vectorsBytes),
    UploadRereadingStarted: (view, { data }) => replaced(view, 'chunks', data.chunksBytes),
    UploadReread: (view, { data }) =>
      data.chunksBlob === undefined ? view : replaced(view, 'vectors', 0),
  },
  removes: [
    'SessionErased',
    'ContentErased',
    'UploadErased',
    'MemoryForgotten',
    'MemoriesErased',
    'CredentialDeleted',
    'CredentialsErased',
  ],
  // biome-ignore format: few lines
  ignores: {
    SessionCreated: true, SessionVisibilityChanged: true, RunDequeued: true, RunResumed: true,
    RunCleared: true, RunHandedOver: true, AgentStarted: true, AgentCompleted: true,
    AgentRouted: true, ClientToolsUnanswered: true, ApprovalExpired: true, ApprovalWithdrawn: true,
    RunLimitReached: true, RunCompleted: true, RunFailed: true, RunCancelled: true,
    RunTimedOut: true, ForkBegun: true, SessionForked: true, ContentStarted: true,
    ContentSubmitted: true, ContentFailed: true, ContentRetryQueued: true, UploadRequeued: true,
    UploadProcessingStarted: true, UploadCompleted: true, UploadFailed: true, UploadRemoved: true,
  },
})
