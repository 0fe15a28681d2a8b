import { randomUUID } from 'node:crypto'
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { open } from 'lmdb'
import { v7 } from 'uuid'
import { embeddedEventStore } from '../src/adapters/embedded/event-store.ts'
import { openLog } from '../src/adapters/embedded/log.ts'
import type { Position } from '../src/domain/event.ts'
import { type EventStore, type NewEvent, START } from '../src/ports/event-store.ts'
import type { Section } from './bench.ts'

const runMs = 1_500
const replayed = 100_000
const perAppend = 50

const streamName = () => `session-org-1_${v7()}`

const event = (): NewEvent => ({
  id: randomUUID(),
  type: 'MessageSent',
  data: { messageId: randomUUID(), text: 'What does the contract say about notice?' },
  metadata: {
    organization_id: 'org-1',
    actor: { key_id: 'key-1', user_id: 'user-1' },
    on_behalf_of: null,
    request_id: 'request-1',
    $correlationId: 'request-1',
    $causationId: 'request-1',
    schema_version: 1,
    at: '2026-01-01T00:00:00.000Z',
  },
})

/** How often `step` ran a second; `concurrency` at a time. */
const rate = async (concurrency: number, step: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  let count = 0
  const worker = async () => {
    for (; performance.now() - start < runMs; count++) await step()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return Math.round((count / (performance.now() - start)) * 1_000)
}

const rawSyncs = async (file: string): Promise<number> => {
  const fd = openSync(file, 'w')
  const page = Buffer.alloc(4_096, 1)
  const perSecond = await rate(1, async () => {
    writeSync(fd, page)
    fdatasyncSync(fd)
  })
  closeSync(fd)
  return perSecond
}

const appends = (store: EventStore, concurrency: number) =>
  rate(concurrency, () => store.append(streamName(), START, [event()]))

/** The same records and index entries by lmdb alone: no limits, checksums, places or conflicts. */
const alone = async (path: string, concurrency: number): Promise<number> => {
  const root = open({ path, noSubdir: false, maxDbs: 2, overlappingSync: false })
  const records = root.openDB<string, number>({ name: 'records', encoding: 'string' })
  const streams = root.openDB<number, [string, number]>({
    name: 'streams',
    encoding: 'ordered-binary',
  })
  let position = 0
  const perSecond = await rate(concurrency, () => {
    const stream = streamName()
    void records.put(position, JSON.stringify([stream, 0, event()]))
    return streams.put([stream, 0], position++)
  })
  await root.close()
  return perSecond
}

/** How fast everything after a position is read back. */
const replay = async (store: EventStore, after: Position): Promise<number> => {
  const start = performance.now()
  let count = 0
  for await (const batch of store.history(after)) count += batch.length
  return Math.round((count / (performance.now() - start)) * 1_000)
}

const fill = async (store: EventStore): Promise<void> => {
  const appendBatch = () =>
    store.append(streamName(), START, Array.from({ length: perAppend }, event))
  for (let stored = 0; stored < replayed; stored += 20 * perAppend)
    await Promise.all(Array.from({ length: 20 }, appendBatch))
}

/** Rates of the syncs of this disk, of appends to the log and of its replay. */
export const benchAppend: Section = async ({ dir }) => {
  const path = mkdtempSync(join(dir, 'append-'))
  try {
    const raw = await rawSyncs(join(path, 'raw'))
    const bare = await alone(join(path, 'bare'), 64)
    const store = embeddedEventStore(await openLog({ path: join(path, 'log') }))
    const single = await appends(store, 1)
    const together = await appends(store, 64)
    const singles = await replay(store, START)
    const head = await store.head()
    await fill(store)
    const bulk = await replay(store, head)
    await store.close()
    return [
      { name: 'write 4 KiB and fdatasync', value: raw, unit: 'writes/s' },
      {
        name: 'durable append, 1 in flight',
        value: single,
        unit: 'events/s',
        against: { name: 'write and fdatasync', value: raw },
      },
      {
        name: 'durable append, 64 in flight',
        value: together,
        unit: 'events/s',
        against: { name: 'lmdb alone', value: bare },
        aim: { least: 0.8 },
      },
      { name: 'replay, one event an append', value: singles, unit: 'events/s' },
      { name: `replay, ${perAppend} events an append`, value: bulk, unit: 'events/s' },
    ]
  } finally {
    rmSync(path, { recursive: true })
  }
}
