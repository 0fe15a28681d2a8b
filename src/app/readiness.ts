import type { Check, Readiness } from '../http/routes/health.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Views } from '../ports/views.ts'
import type { Projector } from '../projector/projector.ts'
import { deferred } from '../support/deferred.ts'

type Uses = {
  events: Pick<EventStore, 'head'>
  views: Pick<Views, 'checkpoint'>
  projecting: Pick<Projector, 'state' | 'lag' | 'checkpoint'>
  /** Since when appends have failed. */
  failingSince(): Date | undefined
  /** A monotonic clock, in milliseconds. */
  now?: () => number
  /** How long a store may take to answer. */
  patienceMs?: number
  /** How long the views may make no progress while there are events to fold. */
  stillMs?: number
  /** How often that is checked. */
  lookMs?: number
}

/**
 * Whether an answer comes in time. Of an error only its name is shown; its message is for the log.
 */
const answers = async (asking: () => Promise<unknown>, patienceMs: number): Promise<Check> => {
  const { promise: late, resolve } = deferred<Check>()
  const timer = setTimeout(resolve, patienceMs, { ok: false, detail: 'no answer in time' })
  const asked = asking().then(
    () => ({ ok: true }),
    (error: Error) => ({ ok: false, detail: error.name }),
  )
  const check = await Promise.race([asked, late])
  clearTimeout(timer)
  return check
}

/**
 * Whether this process can serve: its stores answer, the last append was stored, no projection has
 * stopped, and the views make progress while there are events to fold.
 */
export const openReadiness = (uses: Uses) => {
  const { events, views, projecting, failingSince, now = () => performance.now() } = uses
  const { patienceMs = 2_000, stillMs = 5_000, lookMs = 1_000 } = uses
  /**
   * The views' position when they last made progress or had nothing to fold, and the time of that.
   */
  let moved = { position: projecting.checkpoint(), at: now() }

  /** For how long the views have made no progress although there are events to fold. */
  const standsStill = async (): Promise<number> => {
    const head = await events.head()
    const position = projecting.checkpoint()
    if (position >= head || position !== moved.position) moved = { position, at: now() }
    return now() - moved.at
  }
  const timer = setInterval(() => {
    standsStill().catch(() => undefined)
  }, lookMs).unref()

  const eventStore = async (): Promise<Check> => {
    const since = failingSince()
    if (since)
      return { ok: false, detail: `nothing could be appended since ${since.toISOString()}` }
    return answers(() => events.head(), patienceMs)
  }

  const projections = async (reachable: boolean): Promise<Check> => {
    const stopped = projecting.state().filter(({ state }) => state === 'stopped')
    if (stopped.length > 0)
      return { ok: false, detail: `stopped: ${stopped.map(({ name }) => name).join(', ')}` }
    if (!reachable) return { ok: true, detail: 'lag unknown' }
    const still = await standsStill()
    const { amount, unit } = await projecting.lag()
    const detail = `lag ${amount} ${unit}`
    if (still <= stillMs) return { ok: true, detail }
    return { ok: false, detail: `not moved for ${Math.floor(still / 1_000)} s, ${detail}` }
  }

  return {
    async readiness(): Promise<Readiness> {
      const [{ name: any } = { name: '' }] = projecting.state()
      const [event_store, read_models] = await Promise.all([
        eventStore(),
        answers(() => views.checkpoint(any), patienceMs),
      ])
      const checks = { event_store, read_models, projections: await projections(event_store.ok) }
      return { ready: Object.values(checks).every(({ ok }) => ok), checks }
    },
    close(): void {
      clearInterval(timer)
    },
  }
}
