import type { AnyProjection } from '../../projections/projection.ts'
import type { Position } from '../domain/event.ts'
import { refusal } from '../domain/refusal.ts'
import { type RecordedEvent, START } from '../ports/event-store.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { Document } from '../ports/views.ts'
import { serialQueue } from '../support/serial-queue.ts'
import { batchFolder } from './batch.ts'
import { memoryProjectionStore } from './memory-store.ts'
import type { Cursor } from './router.ts'
import { type SetAsideEvent, setAside } from './set-aside.ts'

/** An organization's events after one position and up to another, in batches. */
type ReadHistory = (range: {
  organizationId: string
  after: Position
  upTo: Position
}) => AsyncIterable<{ events: readonly RecordedEvent[] }>

type Changes = readonly (readonly [id: string, document: Document | null])[]

/** What the history after a position has done to a read model. */
type Delta = {
  after: Position
  upTo: Position
  changes: Changes
  /** All unreadable events up to that position. */
  setAside?: readonly SetAsideEvent[]
}

type Options = {
  readHistory: ReadHistory
  snapshots: Snapshots
  /** Of the code that folds: snapshots of other versions are not used. */
  version: number
  /** How many events of an organization are between two snapshots, at least. */
  every?: number
  /** How many documents are held for one answer. */
  most?: number
  /** Whether there is little memory left. */
  isTight?: () => boolean
}

/** `position` is that of the last event in it, START where there was none. */
export type PastState = {
  documents: ReadonlyMap<string, Document>
  position: Position
  /**
   * The organization's unreadable events up to there, in the streams that the read model is folded
   * from.
   */
  setAside: readonly SetAsideEvent[]
}

/** Events folded at once. */
const batch = 2_000

/**
 * A read model of an organization as it stood at a position: its events folded again, into memory,
 * by the same code as the live one. What they have changed is kept every so many events, so that
 * the next time no more than that is folded. One at a time: a state may be large.
 * @throws state_too_large, and what stops the projection
 */
export const temporalQuery = (options: Options) => {
  const { readHistory, snapshots, version, every = 10_000, most = 500_000 } = options
  const { isTight = () => false } = options
  const size = Math.min(batch, every)
  const serially = serialQueue()

  const replayed = async (organizationId: string, projection: AnyProjection, upTo: Position) => {
    const { name } = projection
    const projectionStore = memoryProjectionStore(projection)
    const cursor: Cursor = { projection, position: START }
    const aside = setAside()
    const fold = batchFolder([projection], aside)
    const snapshotName = (n: number) => `state of ${name} in ${organizationId}, ${n}`
    let position = START
    let snapshotCount = 0
    let delta = new Map<string, Document | null>()
    let from = START
    let folded = 0

    const commit = async (changes: Changes): Promise<void> => {
      const documents = changes.map(([id, document]) => ({ id, document: document ?? undefined }))
      await projectionStore.commit([{ view: name, changes: documents, position }])
      if (projectionStore.documents.size > most || isTight()) throw refusal('state_too_large')
    }

    for (; ; snapshotCount++) {
      const snapshot = await snapshots.get(snapshotName(snapshotCount))
      if (snapshot?.version !== version || snapshot.revision > upTo) break
      const { after, changes, upTo: reached, setAside: known = [] } = snapshot.state as Delta
      if (after !== position) break
      aside.learn(known)
      position = reached
      await commit(changes)
    }
    from = position
    cursor.position = position

    const step = async (events: readonly RecordedEvent[]): Promise<void> => {
      position = events.at(-1)?.position ?? position
      const outcomes = await fold(projectionStore, [cursor], { events, position })
      for (const { changes } of outcomes) {
        for (const { id, document } of changes) delta.set(id, document ?? null)
        await commit(changes.map(({ id, document }) => [id, document ?? null]))
      }
      for (const { error } of outcomes) if (error) throw error
      cursor.position = position
      folded += events.length
      if (folded < every) return
      const state: Delta = {
        after: from,
        upTo: position,
        changes: [...delta],
        setAside: aside.events(),
      }
      const snapshot = { revision: position, version, state }
      // One that cannot be kept is folded again.
      await snapshots.put(snapshotName(snapshotCount++), snapshot).catch(() => undefined)
      delta = new Map()
      from = position
      folded = 0
    }

    const leading: RecordedEvent[] = []
    for await (const { events } of readHistory({ organizationId, after: position, upTo })) {
      leading.push(...events)
      while (leading.length >= size) await step(leading.splice(0, size))
    }
    if (leading.length > 0) await step(leading)
    return { documents: projectionStore.documents, position, setAside: aside.events() }
  }

  return (organizationId: string, projection: AnyProjection, upTo: Position): Promise<PastState> =>
    serially(() => replayed(organizationId, projection, upTo))
}
export type TemporalQuery = ReturnType<typeof temporalQuery>
