import type { Check, Readiness } from '../http/routes/health.ts'
import type { EventStore } from '../ports/event-store.ts'
import type { Views } from '../ports/views.ts'
import type { Projector } from '../projector/projector.ts'
import { deferred } from '../support/deferred.ts'

type Uses = {
  events: Pick<EventStore, 'head'>
  views: Pick<Views, 'checkpoint'>
  projecting: Pick<Projector, 'state' | 'lag'>
  /** How long a store may take to answer. */
  patienceMs?: number
}

/** Whether an answer comes in time; only the kind of an error is told, its words are for the log. */
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

/** Whether this process can serve: its stores answer and none of its projections has stopped. */
export const readiness =
  ({ events, views, projecting, patienceMs = 2_000 }: Uses) =>
  async (): Promise<Readiness> => {
    const states = projecting.state()
    const [{ name: any } = { name: '' }] = states
    const [event_store, read_models] = await Promise.all([
      answers(() => events.head(), patienceMs),
      answers(() => views.checkpoint(any), patienceMs),
    ])
    const lag = () => projecting.lag().catch(() => 'unknown')
    const stopped = states.filter(({ state }) => state === 'stopped').map(({ name }) => name)
    const projections: Check =
      stopped.length > 0
        ? { ok: false, detail: `stopped: ${stopped.join(', ')}` }
        : { ok: true, detail: `lag ${event_store.ok ? await lag() : 'unknown'}` }
    const checks = { event_store, read_models, projections }
    return { ready: Object.values(checks).every(({ ok }) => ok), checks }
  }
