import { setTimeout as pause } from 'node:timers/promises'
import type { EventProjection } from '../../projections/projection.ts'
import { ownerOf, type Position } from '../domain/event.ts'
import { type EventStore, type RecordedEvent, START } from '../ports/event-store.ts'
import { type Log, silent } from '../ports/log.ts'
import type { Views } from '../ports/views.ts'
import type { BufferBudget } from '../support/buffer-budget.ts'
import { changedBatches, type DocumentOpener, lengthOf } from './item.ts'
import { inSlices } from './slices.ts'
import { type Subscriber, subscriber, type WaitingItems } from './subscriber.ts'
import { touched } from './touched.ts'
import { waitingItems } from './waiting-items.ts'

/** How long a view may lag behind the log before its subscribers are disconnected. */
const patienceMs = 2_000
const leastGatherMs = 5
/**
 * How long events are gathered; longer for many subscribers: what one write tells them costs about
 * as much as what another would.
 */
const gatherMs = (subscribers: number) => Math.min(250, leastGatherMs + subscribers / 4)

export type LiveUses = {
  store: Pick<EventStore, 'feed' | 'read' | 'distance'>
  views: Pick<Views, 'load'>
  /** The position that a view is folded to. */
  at(view: string): Position
  waitForPosition(position: Position, timeoutMs: number, views: readonly string[]): Promise<boolean>
  buffers: BufferBudget
  log?: Log
}

type Hub = {
  organizationId: string
  view: string
  open: DocumentOpener
  changed: ReturnType<typeof touched>
  subscribers: Set<Subscriber>
  /** Items that its subscribers have not consumed. */
  waiting: WaitingItems
}

/** Follows the log for all subscribers of a read model: each change is read and serialized once. */
export const live = ({ store, views, at, waitForPosition, buffers, log = silent }: LiveUses) => {
  const hubs = new Map<string, Hub>()
  let reading: AbortController | undefined
  const ownTurn = inSlices()
  /** Changes up to this position have been sent, or are being sent. */
  let sentPosition = START

  const count = () => [...hubs.values()].reduce((sum, { subscribers }) => sum + subscribers.size, 0)

  const leave = (hub: Hub, member: Subscriber) => {
    member.end()
    if (!hub.subscribers.delete(member) || hub.subscribers.size > 0) return
    hubs.delete(`${hub.organizationId}/${hub.view}`)
    if (hubs.size > 0) return
    reading?.abort()
    reading = undefined
  }

  const letGo = (hub: Hub) => {
    for (const member of hub.subscribers) leave(hub, member)
  }

  const createHub = (
    organizationId: string,
    projection: EventProjection,
    open: DocumentOpener,
  ): Hub => {
    const subscribers = new Set<Subscriber>()
    const lagging = () => [...subscribers].filter((member) => member.lags())
    const drop = () => {
      for (const member of lagging()) member.disconnect()
    }
    return {
      organizationId,
      view: projection.name,
      open,
      changed: touched(projection, store.read),
      subscribers,
      waiting: waitingItems(buffers.holder({ drop })),
    }
  }

  const notify = async (hub: Hub, events: readonly RecordedEvent[], position: Position) => {
    const { organizationId, view, open, changed, subscribers } = hub
    const own = events.filter((event) => ownerOf(event) === organizationId)
    try {
      const ids = await changed(own)
      if (ids.size === 0) return
      await waitForPosition(position, patienceMs, [view])
      if (at(view) < position) return letGo(hub)
      const loading = { load: views.load, view, organizationId, open }
      for await (const { items } of changedBatches(loading, ids, position)) {
        const characters = lengthOf(items)
        for (const member of subscribers) {
          const turn = ownTurn()
          if (turn) await turn
          member.push(items, characters)
        }
      }
    } catch (err) {
      log.error({ err, view }, 'a feed has failed')
      letGo(hub)
    }
  }

  const read = async (after: Position, signal: AbortSignal) => {
    try {
      for await (const { events, position } of store.feed(after, signal)) {
        if (signal.aborted) return
        sentPosition = position
        const next = performance.now() + gatherMs(count())
        await Promise.all([...hubs.values()].map((hub) => notify(hub, events, position)))
        const left = Math.max(leastGatherMs, next - performance.now())
        await pause(left, undefined, { signal }).catch(() => undefined)
      }
    } catch (err) {
      log.error({ err }, 'following the log for feeds failed')
    }
    if (signal.aborted) return
    reading = undefined
    for (const hub of hubs.values()) letGo(hub)
  }

  return {
    /**
     * Subscribes to a read model from the position it is folded to, `from`. Undefined when the view
     * stays behind what other subscribers were sent.
     */
    async join(
      organizationId: string,
      { projection, open }: { projection: EventProjection; open: DocumentOpener },
      cut: () => void,
    ) {
      const view = projection.name
      if (reading) await waitForPosition(sentPosition, patienceMs, [view])
      const from = at(view)
      if (!reading) {
        reading = new AbortController()
        sentPosition = from
        void read(from, reading.signal)
      }
      if (from < sentPosition) return undefined
      const name = `${organizationId}/${view}`
      const hub = hubs.get(name) ?? createHub(organizationId, projection, open)
      hubs.set(name, hub)
      const disconnect = () => {
        leave(hub, member)
        cut()
      }
      const member: Subscriber = subscriber(from, disconnect, undefined, hub.waiting)
      hub.subscribers.add(member)
      return { from, next: member.next, pushes: member.pushes, leave: () => leave(hub, member) }
    },

    /** Disconnects all subscribers. */
    close(): void {
      for (const hub of hubs.values()) letGo(hub)
      reading?.abort()
    },
  }
}

export type Joined = Awaited<ReturnType<ReturnType<typeof live>['join']>>
