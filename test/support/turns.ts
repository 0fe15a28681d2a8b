import { sessionDocumentId } from '../../projections/sessions.ts'
import { findAnswer } from '../../queries/find-answer.ts'
import { findRequestId } from '../../src/event-sourcing/find-request-id.ts'
import { type Log, silent } from '../../src/ports/log.ts'
import type { Models } from '../../src/ports/model.ts'
import { sealRequest } from '../../src/turns/begin/seal-request.ts'
import { startRun } from '../../src/turns/begin/start-run.ts'
import { type PastTurn, pastTurn } from '../../src/turns/read/past-turn.ts'
import { closeRun, runNames } from '../../src/turns/resume/close-run.ts'
import { recordedCost } from '../../src/turns/resume/recorded-cost.ts'
import { resumeTurns } from '../../src/turns/resume/resume-turn.ts'
import type { TakeRun } from '../../src/turns/resume/take-run.ts'
import { type ExecuteRunUses, executeRun as executeRunOf } from '../../src/turns/run/execute.ts'
import { sendTurn } from '../../src/turns/run/send-turn.ts'
import { turnScheduler } from '../../src/turns/run/turn-scheduler.ts'
import { turns } from '../../src/turns/run/turns.ts'
import type { Commanded } from './commanded.ts'

type Uses = {
  node: string
  runAgent: ExecuteRunUses['runAgent']
  models: Models
  takeRun?: TakeRun
  log?: Pick<Log, 'error'>
  /** How many runs of a payer may run at once, when they are resumed. */
  most?: number
}

/** Ended turns, over these stores. */
export const pastTurnIn = ({ read, vault }: Commanded): PastTurn =>
  pastTurn(findAnswer({ ...read, open: vault.open }))

/** The turns of one process, over stores that others may share. */
export const turnsOver = (scene: Commanded, uses: Uses) => {
  const { read, endRun, clock, store, seen: waitForPosition } = scene
  const { node, runAgent, models, takeRun = async () => undefined, log = silent, most = 20 } = uses
  const findRun = read.runs.get
  const scheduler = turnScheduler({ clock, log })
  const { isStopping } = scheduler
  const both = { ...scene, scheduler, waitForPosition, node, log }
  const executeRun = executeRunOf({ ...both, runAgent, isStopping })
  const { resume, runQueued } = resumeTurns({
    ...both,
    takeRun,
    executeRun,
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
  const send = sendTurn({
    ...both,
    startRun: startRun({ ...both, models, sealRequest: sealRequest(scene) }),
    executeRun,
    runQueued,
    findOrResumeTurn: pastTurnIn(scene),
    findRun,
  })
  return Object.assign(turns(both), { send, resume })
}
