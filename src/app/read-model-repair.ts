import { setTimeout as pause } from 'node:timers/promises'
import type { AnyProjection } from '../../projections/projection.ts'
import type { UnreadableEventView } from '../../projections/unreadable-events.ts'
import { eventsByCategory } from '../domain/categories.ts'
import { latest, type Position } from '../domain/event.ts'
import { readingVersion } from '../domain/versions.ts'
import { faultOf } from '../event-sourcing/codec.ts'
import { type EventStore, START } from '../ports/event-store.ts'
import type { Log } from '../ports/log.ts'
import type { Snapshots } from '../ports/snapshots.ts'
import type { View, Views } from '../ports/views.ts'
import type { Projecting } from '../projector/projector.ts'

type Uses = {
  store: Pick<EventStore, 'at' | 'head'>
  projections: readonly AnyProjection[]
  unreadableEvents: Pick<View<UnreadableEventView>, 'find'>
  checkpoint: Views['checkpoint']
  /** Whether a read model may be in another process, which a start does not wait for. */
  isLater(name: string): boolean
  snapshots: Snapshots
  projecting: Pick<Projecting, 'holds' | 'rebuild' | 'waitForPosition'>
  log: Log
  everyMs?: number
}

/** Where it is kept which release the read models were last looked through by. */
const markName = 'how stored events are read'
const markVersion = 1
const aside = 'unreadable_events'
const page = 1_000
const usualMs = 5_000

const tables: ReadonlyMap<string, (typeof eventsByCategory)[keyof typeof eventsByCategory]> =
  new Map(Object.entries(eventsByCategory))
const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'))

type EventRef = Pick<UnreadableEventView, 'position' | 'stream' | 'type'>

/** Whether a read model has something of an event; trees and indexes are of its stored form. */
const foldsIn =
  ({ stream, type }: EventRef) =>
  (projection: AnyProjection): boolean =>
    'stored' in projection
      ? Object.hasOwn(projection.stored.events ?? {}, type)
      : projection.categories.includes(categoryOf(stream))

/**
 * Rebuilds read models that were folded without an event which this release can read, or with data
 * that it repairs: an upgrade heals an installation with unreadable events. Runs on the projecting
 * node until it is done, or the server stops.
 */
export const readModelRepair = (uses: Uses) => {
  const { store, projections, unreadableEvents, checkpoint, snapshots, projecting, log } = uses
  const { isLater, everyMs = usualMs } = uses
  const closing = new AbortController()
  /** A later one that fails is tried again without them. */
  const rebuilt = new Set<string>()
  /** How far each read model was at the start, where another release may have folded it. */
  let folded: Map<string, Position> | undefined
  let done: Promise<void> = Promise.resolve()

  const mark = (): Promise<void> =>
    snapshots.put(markName, { revision: 0, version: markVersion, state: readingVersion() })

  async function* listed(index: 'unreadable' | 'repaired'): AsyncGenerator<UnreadableEventView[]> {
    for (let skip = 0; ; skip += page) {
      const { items } = await unreadableEvents.find({ index, equals: [true], skip, limit: page })
      if (items.length > 0) yield items
      if (items.length < page) return
    }
  }

  /** Those that were set aside and can be read by now. */
  const readableNow = async (): Promise<EventRef[]> => {
    async function* positions() {
      for await (const some of listed('unreadable')) yield some.map(({ position }) => position)
    }
    const readable: EventRef[] = []
    for await (const events of store.at(positions()))
      for (const event of events) {
        const table = tables.get(categoryOf(event.stream))
        if (table && faultOf(table, event) === undefined) readable.push(event)
      }
    return readable
  }

  const isFolded = ({ name }: AnyProjection, { position }: EventRef): boolean =>
    position <= (folded?.get(name) ?? START)

  /** The names of the read models to rebuild; the list of unreadable events comes last. */
  const concerned = async (): Promise<string[]> => {
    const names = new Set<string>()
    const readable = await readableNow()
    for (const event of readable)
      for (const projection of projections)
        if (foldsIn(event)(projection)) names.add(projection.name)
    if (folded)
      for await (const some of listed('repaired'))
        for (const event of some)
          for (const projection of projections)
            if (foldsIn(event)(projection) && isFolded(projection, event))
              names.add(projection.name)
    return readable.length > 0 ? [...names, aside] : [...names]
  }

  /** Takes note of how far read models are that are not known yet. */
  const lookAt = async (
    known: Map<string, Position>,
    isAsked: (name: string) => boolean,
  ): Promise<void> => {
    for (const { name } of projections)
      if (isAsked(name) && !known.has(name)) known.set(name, await checkpoint(name))
  }

  /** Whether nothing is left to do. */
  const repair = async (): Promise<boolean> => {
    if (folded) await lookAt(folded, isLater)
    const end = latest(START, ...(folded?.values() ?? []))
    if (!(await projecting.waitForPosition(end, everyMs, [aside]))) return false
    const names = await concerned()
    if (!names.every(projecting.holds)) return false
    for (const name of names) {
      if (rebuilt.has(name)) continue
      closing.signal.throwIfAborted()
      await projecting.rebuild(name)
      rebuilt.add(name)
      log.info({ projection: name }, 'a read model was rebuilt with events that are readable now')
    }
    if (folded) await mark()
    folded = undefined
    return true
  }

  const repairing = async (): Promise<void> => {
    for (; !closing.signal.aborted; await pause(everyMs, undefined, { ref: false }))
      try {
        if (await repair()) return
      } catch (err) {
        if (!closing.signal.aborted) log.warn({ err }, 'read models could not be repaired yet')
      }
  }

  return {
    /** Before anything is projected. */
    async look(): Promise<void> {
      const last = await snapshots.get(markName)
      if (last?.version === markVersion && last.state === readingVersion()) return
      if ((await store.head()) === START) return mark()
      folded = new Map()
      await lookAt(folded, (name) => !isLater(name))
    },
    /** Once the projectors are running. */
    begin(): void {
      done = repairing()
    },
    async close(): Promise<void> {
      closing.abort()
      await Promise.race([done, pause(0)])
    },
  }
}
