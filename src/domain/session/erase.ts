import { refusal } from '../refusal.ts'
import type { SessionEvent } from './events.ts'
import { uncharged } from './running.ts'
import type { Session } from './session.ts'

/**
 * Erases a session of that owner, or what there is of a fork; its id is never taken again. A run that another process has under
 * way ends here. @throws session_not_found
 */
export const decideErase =
  ({ sessionOwner, deletedBy }: { sessionOwner: string; deletedBy: string | null }) =>
  ({ status, ownerId, running }: Session): SessionEvent<'RunCancelled' | 'SessionErased'>[] => {
    const there = status === 'open' || status === 'forking'
    if (!there || ownerId !== sessionOwner) throw refusal('session_not_found')
    const delegated = deletedBy !== sessionOwner
    const erased = {
      type: 'SessionErased',
      data: { deletedBy, sessionOwner, delegated },
    } as const
    if (!running) return [erased]
    return [{ type: 'RunCancelled', data: { runId: running.runId, ...uncharged } }, erased]
  }
