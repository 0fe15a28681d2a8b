import type { RunView } from '../../../projections/runs.ts'
import { type SessionEvent, sessionEvents } from '../../domain/session/events.ts'
import { sessionStream } from '../../domain/session/session.ts'
import { decoder } from '../../event-sourcing/codec.ts'
import type { EventStore } from '../../ports/event-store.ts'
import { type Keyed, sessionKey, type Vault } from '../../security/vault.ts'
import { timeOfId } from '../../support/ids.ts'

type Uses = { read: EventStore['read']; vault: Pick<Vault, 'found'> }

/** The beginning of a run as it is stored, and the key of its texts. */
export type RunStart = { data: SessionEvent<'RunStarted'>['data']; key: Keyed }

const decode = decoder(sessionEvents)

/**
 * Reads how a run began. Undefined once its session is erased, and for runs from before the place
 * of their beginning was kept.
 */
export const runStart =
  ({ read, vault }: Uses) =>
  async ({
    organization_id,
    session_id,
    run_id,
    revision,
  }: RunView): Promise<RunStart | undefined> => {
    const key = await vault.found(sessionKey(organization_id, session_id))
    if (!key || revision === undefined) return undefined
    const { name } = sessionStream(organization_id, session_id)
    for await (const [first] of read(name, revision, 1)) {
      const event = first && decode(first)
      if (event?.type !== 'RunStarted' || event.data.runId !== run_id) break
      return { data: event.data, key }
    }
    return undefined
  }
export type FindRunStart = ReturnType<typeof runStart>

/**
 * The Unix second in which a turn was asked for: that of its run's id, which is made before
 * anything is stored. `otherwise`: milliseconds, for an id that has no time.
 */
export const createdOf = (runId: string, otherwise: number): number =>
  Math.floor((timeOfId(runId) ?? otherwise) / 1_000)
