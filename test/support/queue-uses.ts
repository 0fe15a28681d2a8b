import { sessionDocumentId } from '../../projections/sessions.ts'
import { findRequestId } from '../../src/event-sourcing/find-request-id.ts'
import { silent } from '../../src/ports/log.ts'
import { closeRun, runNames } from '../../src/turns/resume/close-run.ts'
import { recordedCost } from '../../src/turns/resume/recorded-cost.ts'
import type { turns } from '../../src/turns/run/turns.ts'
import type { Commanded } from './commanded.ts'

type Uses = Parameters<typeof turns>[0]

/**
 * What turns use for runs that are queued or go on: over these stores, so many at once of a payer.
 */
export const queueUses = (
  { read, endRun, clock, store }: Commanded,
  most = 20,
): Pick<Uses, 'findRun' | 'closeRun' | 'sessionOwner' | 'runsAtOnce'> => ({
  findRun: read.runs.get,
  closeRun: closeRun({
    endRun,
    costOf: recordedCost({ read: store.read }),
    abandonRun: async () => undefined,
    namesOf: runNames(findRequestId({ read: store.read })),
    clock,
    log: silent,
  }),
  async sessionOwner({ organizationId, sessionId }) {
    const view = await read.sessions.get(sessionDocumentId(organizationId, sessionId))
    return view && { ownerId: view.user_id, keyId: view.key_id }
  },
  runsAtOnce: async () => most,
})
