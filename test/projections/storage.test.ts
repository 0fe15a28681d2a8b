import t from 'tap'
import type { EventProjection } from '../../projections/projection.ts'
import * as projections from '../../projections/storage.ts'
import type { EventTable } from '../../src/domain/aggregate.ts'
import { eventsByCategory } from '../../src/domain/categories.ts'
import { sealedPlaces } from '../../src/domain/sealed-places.ts'
import { START } from '../../src/ports/event-store.ts'
import { folded } from '../../src/projector/fold.ts'
import { batchRouter } from '../../src/projector/router.ts'
import { sample } from '../support/events.ts'
import { handlesAll, projecting, recordedOn } from '../support/given.ts'
import { sessionEvent, sessionStream } from '../support/session-events.ts'

/** Takes events of any type. */
const storage: EventProjection = projections.storage
const total = projections.storageTotalId('org-1')
const text = (length: number) => ({ $sealed: 'session:org-1/session-1', box: 'x'.repeat(length) })
const file = 'file-org-1_f-1'
const identity = { uploadId: 'u-1', datastoreId: 'd-1' }
const at = '2026-01-01T00:00:00.000Z'

t.test('counts texts and files of a session', async (t) => {
  const seen = projecting(t, storage, sessionStream)
  const kind = 'image' as const
  const part = { id: 'p', kind, mediaType: 'image/png', bytes: 500, blob: 'b', at: 0 }
  const message = { content: text(100), parts: [part, { ...part, name: text(7) }] }
  const sent = sessionEvent('UserMessageSent', at, message)
  const calls = [{ id: 'c', name: 'pay', arguments: text(3) }]
  const answer = sessionEvent('ModelAnswered', at, { text: text(20), calls })
  const stored = seen(sessionEvent('SessionCreated'), sent, answer)
  stored.shows({ organization_id: 'org-1', bytes: 1_130 }, sessionStream)
  stored.shows({ bytes: 1_130 }, total)
  const erased = seen(sent, answer, sessionEvent('SessionErased'))
  erased.showsNothing(sessionStream)
  erased.showsNothing(total)
})

t.test('a fork counts in full', async (t) => {
  const copied = sessionEvent('MessageForked', at, { content: text(100), toolCalls: [] })
  projecting(t, storage, sessionStream)(copied, copied).shows({ bytes: 200 }, total)
})

t.test('counts an upload, its chunks and its vectors until its blobs are removed', async (t) => {
  const seen = projecting(t, storage, file)
  const received = {
    type: 'UploadReceived',
    data: { ...identity, filename: 'a.md', fileSize: 50, fileType: 'text/markdown', blob: 'b' },
  } as const
  const chunks = (chunksBytes?: number) => ({
    type: 'UploadIndexingStarted',
    data: { ...identity, chunks: 2, chunksBlob: 'c', ...(chunksBytes ? { chunksBytes } : {}) },
  })
  const vectors = (vectorsBytes: number) => ({
    type: 'UploadEmbedded',
    data: { ...identity, model: 'm', dimensions: 3, vectorsBlob: 'v', vectorsBytes },
  })
  seen(received, chunks()).shows({ bytes: 50 }, total)
  seen(received, chunks(30), chunks(30)).shows({ bytes: 80 }, total)
  seen(received, chunks(30), vectors(9), vectors(4)).shows({ bytes: 84 }, total)
  const rereading = {
    type: 'UploadRereadingStarted',
    data: { ...identity, reader: 2, chunks: 3, chunksBlob: 'd', chunksBytes: 35 },
  }
  const reread = (chunksBlob?: string) => ({
    type: 'UploadReread',
    data: { ...identity, reader: 2, ...(chunksBlob ? { chunksBlob } : {}) },
  })
  seen(received, chunks(30), vectors(4), rereading).shows({ bytes: 89 }, total)
  seen(received, chunks(30), vectors(4), rereading, reread('d')).shows({ bytes: 85 }, total)
  seen(received, chunks(30), vectors(4), reread()).shows({ bytes: 84 }, total)
  const removed = {
    type: 'UploadRemoved',
    data: { ...identity, reason: 'deleted', completed: true },
  }
  seen(received, removed).shows({ bytes: 50 }, total)
  seen(received, removed, { type: 'UploadErased', data: identity }).showsNothing(total)
})

t.test('memories and credentials count until they are erased together', async (t) => {
  const memory = 'memory-org-1_user-1'
  const remembered = (memoryId: string) => ({
    type: 'MemoryRemembered',
    data: { memoryId, text: text(30) },
  })
  const certificate = (memories: number, credentials: number) => ({
    deletedBy: 'user-9',
    delegated: true,
    scope: [memories ? 'memories' : 'credentials'],
    memories,
    credentials,
    keyIds: ['k'],
    destroyedAt: at,
  })
  const remembers = projecting(t, storage, memory)
  const erased = {
    type: 'MemoriesErased',
    data: { ...certificate(2, 0), memoryIds: ['m-1', 'm-2'] },
  }
  const two = [remembered('m-1'), remembered('m-2')]
  remembers(...two).shows({ bytes: 60 }, total)
  remembers(...two, erased).showsNothing(total)
  remembers(...two, erased, remembered('m-3')).shows({ bytes: 30 }, total)

  const storing = projecting(t, storage, 'credentials-org-1_user-1')
  const stored = { type: 'CredentialStored', data: { name: 'TOKEN', value: text(40) } }
  const dropped = { type: 'CredentialsErased', data: { ...certificate(0, 1), names: ['TOKEN'] } }
  storing(stored).shows({ bytes: 40 }, total)
  storing(stored, dropped).showsNothing(total)
})

t.test('the total does not depend on the batches', async (t) => {
  const events = [
    sessionEvent('UserMessageSent', at, { content: text(100) }),
    {
      ...sessionEvent('UserMessageSent', at, { content: text(40) }),
      stream: 'session-org-1_other',
    },
    sessionEvent('AssistantMessageRecorded', at, { content: text(5) }),
    sessionEvent('SessionErased'),
  ]
  const documents = new Map()
  for (const [n, event] of events.entries()) {
    const batch = recordedOn(sessionStream, [{ ...event, position: n }])
    const [todo] = batchRouter([storage])(batch, [{ projection: storage, position: START }])
    for (const { id, document } of folded(storage, todo ?? { steps: [] }, documents).changes)
      if (document) documents.set(id, document)
      else documents.delete(id)
  }
  t.strictSame(Object.fromEntries(documents), {
    [total]: { organization_id: 'org-1', bytes: 40 },
    'session-org-1_other': { organization_id: 'org-1', bytes: 40 },
  })
})

t.test('every event that has a sealed text of an organization is counted', async (t) => {
  const counted = Object.keys({ ...storage.creates, ...storage.changes })
  for (const category of storage.categories)
    for (const [type, data] of Object.entries(
      (eventsByCategory as Record<string, EventTable>)[category] ?? {},
    ))
      if (JSON.stringify(sample(type).data).includes('"$sealed"') || sealedPlaces(data))
        t.ok(data && counted.includes(type), type)
})

t.test('every event it handles was given', async (t) => {
  for (const category of storage.categories) {
    const seen = projecting(t, storage, `${category}-org-1_1`)
    for (const type of Object.keys(
      (eventsByCategory as Record<string, EventTable>)[category] ?? {},
    ))
      seen({ type, data: sample(type).data })
  }
  handlesAll(t, storage)
})
