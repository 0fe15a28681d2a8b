import type { RunView } from '../../../projections/runs.ts'
import { tokenMeter } from '../../agents/token-meter.ts'
import { type SessionEvent, sessionEvents } from '../../domain/session/events.ts'
import { sessionStream } from '../../domain/session/session.ts'
import { decoder } from '../../event-sourcing/codec.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { modelsOf } from '../record/run-end.ts'
import { spentOn } from './recorded-run.ts'

const decode = decoder(sessionEvents)

type Recorded = Pick<RunView, 'run_id' | 'session_id' | 'organization_id' | 'revision'>

/** What the recorded answers of a run cost, for whoever closes it in place of its process. */
export const recordedCost =
  ({ read }: { read: EventStore['read'] }) =>
  async ({ run_id: runId, session_id, organization_id, revision = 0 }: Recorded) => {
    const answers = new Map<string, SessionEvent<'ModelAnswered'>['data']>()
    let most = Number.POSITIVE_INFINITY
    const { name } = sessionStream(organization_id, session_id)
    for await (const batch of read(name, revision))
      for (const { type, data } of batch.map(decode)) {
        if (!('runId' in data) || data.runId !== runId) continue
        if (type === 'RunStarted') most = data.limits?.charge ?? most
        // If a place was written twice, the first event counts.
        if (type === 'ModelAnswered' && !answers.has(data.at)) answers.set(data.at, data)
      }
    const { usage, charges } = tokenMeter([...answers.values()].map(spentOn)).answered()
    const sum = charges.reduce((all, { charge }) => all + charge, 0)
    const charge = Math.min(sum, most)
    const models = modelsOf(charges, charge)
    return { ...usage, charge, ...(models.length > 0 ? { models } : {}) }
  }
export type RecordedCost = ReturnType<typeof recordedCost>
