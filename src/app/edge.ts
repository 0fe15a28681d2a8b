import { opening } from '../support/disposal.ts'
import type { Administration } from './administration.ts'
import { openHttp } from './http.ts'
import { openOutageWatch } from './outage-watch.ts'
import type { Parts } from './parts.ts'
import { openReadiness } from './readiness.ts'
import type { TurnEngine } from './turn-engine.ts'

const openHealth = ({ storage, writing, reading }: Parts) => {
  const { stores, times } = storage
  return openReadiness({
    events: stores.events,
    views: stores.views,
    prompt: reading.prompt,
    later: reading.later.projecting,
    failingSince: writing.failingSince,
    unreadable: reading.unreadable,
    damage: () => [...stores.damage(), ...reading.later.damage()],
    aheadMs: times.aheadMs,
    disk: stores.space.state,
  })
}

/** Readiness, the watch for outages, and the HTTP server. Nothing listens yet. */
export const openEdge = (parts: Parts, engine: TurnEngine, administration: Administration) =>
  opening(async (opened) => {
    const { clock, log } = parts.host
    const { failingSince, commands } = parts.writing
    const { recordOutage } = commands
    const { readiness } = opened.use(openHealth(parts))
    opened.use(openOutageWatch({ failingSince, recordOutage, clock, log }))
    const { http } = opened.use(await openHttp({ parts, engine, administration, readiness }))
    // Before the turns under way are waited for.
    opened.add(engine.chat.orphanRuns.stop)
    opened.add(engine.approvals.stop)
    return { http }
  })
