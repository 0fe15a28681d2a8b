import type { ListUnreadable } from '../../queries/list-unreadable.ts'
import type { DiskState } from '../adapters/embedded/disk-space.ts'
import { earliest, type Position } from '../domain/event.ts'
import type { Check, Readiness } from '../http/routes/health.ts'
import type { Damage } from '../ports/damage.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Views } from '../ports/views.ts'
import type { Projecting } from '../projector/projector.ts'
import { deferred } from '../support/deferred.ts'
import { clockCheck } from './clock-check.ts'
import { damageCheck } from './damage-check.ts'

/** How many unreadable events are named. */
const mostNamed = 20

type Folding = Pick<Projecting, 'state' | 'checkpoint' | 'at'>

type Uses = {
  events: Pick<EventStore, 'head' | 'distance'>
  views: Pick<Views, 'checkpoint'>
  /** What folds the views that clients of a chat read. */
  prompt: Folding
  /** What folds those that only auditors and analysts read. */
  later: Folding
  /** Since when appends have failed. */
  failingSince(): Date | undefined
  /** Unreadable events that were set aside. */
  unreadable?: ListUnreadable
  /** What was found damaged: the rest can be served. */
  damage?(): readonly Damage[]
  /** How far the latest event is ahead of the clock. */
  aheadMs?(): number
  /** How much space there is for what is written here. */
  disk?(): DiskState
  /** A monotonic clock, in milliseconds. */
  now?: () => number
  /** How long a store may take to answer. */
  patienceMs?: number
  /** How long the views may make no progress while there are events to fold. */
  stillMs?: number
  /** How often that is checked. */
  lookMs?: number
}

/** A check, and what the store answered if it did. */
type ProbeResult<Answer> = { check: Check; answer?: Answer }

/**
 * Whether an answer comes in time. Of an error only its name is shown; its message is for the log.
 */
const probe = async <Answer>(
  query: () => Promise<Answer>,
  patienceMs: number,
): Promise<ProbeResult<Answer>> => {
  const { promise: late, resolve } = deferred<ProbeResult<Answer>>()
  const timer = setTimeout(resolve, patienceMs, {
    check: { ok: false, detail: 'no answer in time' },
  })
  const response = query().then(
    (answer) => ({ check: { ok: true }, answer }),
    (error: Error) => ({ check: { ok: false, detail: error.name } }),
  )
  const result = await Promise.race([response, late])
  clearTimeout(timer)
  return result
}

type Watched = Required<Pick<Uses, 'events' | 'now' | 'stillMs'>> & { folding: Folding }

/** Unreadable events by position, stream and reason, without their data. */
const unreadableCheck = (aside: Awaited<ReturnType<ListUnreadable>> | undefined): Check => {
  if (!aside || aside.total === 0) return { ok: true }
  const places = aside.events.map(
    ({ position, stream, type, reason }) =>
      `${type} at position ${position} of ${stream} (${reason})`,
  )
  const more = aside.total - places.length
  return {
    ok: false,
    detail: `set aside: ${places.join('; ')}${more > 0 ? ` and ${more} more` : ''}`,
  }
}

const stoppedIn = (folding: Folding): Check | undefined => {
  const stopped = folding.state().filter(({ state }) => state === 'stopped')
  if (stopped.length === 0) return undefined
  return { ok: false, detail: `stopped: ${stopped.map(({ name }) => name).join(', ')}` }
}

/** Whether the views of a projector as a whole make progress while there are events to fold. */
const progressOf = ({ events, now, stillMs, folding }: Watched) => {
  /**
   * The views' position when they last made progress or had nothing to fold, and the time of that.
   */
  let moved = { position: folding.checkpoint(), at: now() }

  /** For how long the views have made no progress although there are events to fold. */
  const standsStill = (head: Position): number => {
    const position = folding.checkpoint()
    if (position >= head || position !== moved.position) moved = { position, at: now() }
    return now() - moved.at
  }

  return {
    standsStill,
    check(head: Position | undefined): Check {
      const stopped = stoppedIn(folding)
      if (stopped) return stopped
      if (head === undefined) return { ok: true, detail: 'lag unknown' }
      const still = standsStill(head)
      const { amount, unit } = events.distance(folding.checkpoint(), head)
      const detail = `lag ${amount} ${unit}`
      if (still <= stillMs) return { ok: true, detail }
      return { ok: false, detail: `not moved for ${Math.floor(still / 1_000)} s, ${detail}` }
    },
  }
}

const megabytes = (bytes: number) => Math.floor(bytes / 1_048_576)

/** Files alone may be refused: then everything else is served. */
const diskCheck = ({ free, reserve, refused }: DiskState): Check => {
  if (refused.length === 0) return { ok: true }
  const detail = `${megabytes(free)} MiB free, reserve ${megabytes(reserve)} MiB: refused are writes of ${refused.join(', ')}`
  return { ok: refused.every((use) => use === 'files' || use === 'rebuilds'), detail }
}

/** Whether each view of a projector makes progress while there are events to fold. */
const eachProgressOf = ({ events, now, stillMs, folding }: Watched) => {
  const moved = new Map<string, { position: Position; at: number }>()

  /** For how long each has made no progress although there are events to fold. */
  const standsStill = (head: Position): (readonly [name: string, ms: number])[] =>
    folding.state().map(({ name }) => {
      const position = folding.at(name)
      const known = moved.get(name)
      if (known && position < head && position === known.position) return [name, now() - known.at]
      moved.set(name, { position, at: now() })
      return [name, 0]
    })

  return {
    standsStill,
    check(head: Position | undefined): Check {
      const stopped = stoppedIn(folding)
      if (stopped) return stopped
      if (head === undefined) return { ok: true, detail: 'lag unknown' }
      const still = standsStill(head).filter(([, ms]) => ms > stillMs)
      const names = folding.state().map(({ name }) => name)
      const { amount, unit } = events.distance(earliest(head, ...names.map(folding.at)), head)
      const detail = `lag ${amount} ${unit}`
      if (still.length === 0) return { ok: true, detail }
      const reasons = still.map(
        ([name, ms]) => `${name} has not moved for ${Math.floor(ms / 1_000)} s`,
      )
      return { ok: false, detail: `${reasons.join(', ')}, ${detail}` }
    },
  }
}

/**
 * Whether this process can serve: its stores answer, the last append was stored, the disk has
 * space, no projection has stopped, and the views make progress while there are events to fold.
 * Views that are folded later, unreadable events, damage and a clock behind the log are named and
 * do not count: the rest is served.
 */
export const openReadiness = (uses: Uses) => {
  const { events, views, failingSince, damage = () => [], aheadMs = () => 0, disk } = uses
  const { now = () => performance.now() } = uses
  const { patienceMs = 2_000, stillMs = 5_000, lookMs = 1_000 } = uses
  const prompt = progressOf({ events, now, stillMs, folding: uses.prompt })
  const later = eachProgressOf({ events, now, stillMs, folding: uses.later })
  const look = (head: Position) => {
    for (const { standsStill } of [prompt, later]) standsStill(head)
  }
  const timer = setInterval(() => {
    events.head().then(look, () => undefined)
  }, lookMs).unref()

  const eventStore = async (): Promise<ProbeResult<Position>> => {
    const since = failingSince()
    if (since) {
      const detail = `nothing could be appended since ${since.toISOString()}`
      return { check: { ok: false, detail } }
    }
    return probe(() => events.head(), patienceMs)
  }

  return {
    async readiness(): Promise<Readiness> {
      const [{ name: any } = { name: '' }] = uses.prompt.state()
      const [store, { check: read_models }, { answer: aside }] = await Promise.all([
        eventStore(),
        probe(() => views.checkpoint(any), patienceMs),
        probe(async () => uses.unreadable?.(mostNamed), patienceMs),
      ])
      const checks = {
        event_store: store.check,
        read_models,
        projections: prompt.check(store.answer),
        ...(disk && { disk: diskCheck(disk()) }),
      }
      const ready = Object.values(checks).every(({ ok }) => ok)
      const later_projections = later.check(store.answer)
      const further = {
        unreadable_events: unreadableCheck(aside),
        damage: damageCheck(damage()),
        clock: clockCheck(aheadMs()),
      }
      return { ready, checks: { ...checks, later_projections, ...further } }
    },
    close(): void {
      clearInterval(timer)
    },
  }
}
