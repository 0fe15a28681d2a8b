import { refusal } from '../refusal.ts'
import { withdrawn } from './approvals.ts'
import type { SessionEvent } from './events.ts'
import { uncharged } from './running.ts'
import type { Session } from './session.ts'

/**
 * Erases a session of that owner, or an unfinished fork; its id is never taken again. A run that
 * another process executes ends here. @throws session_not_found
 */
export const decideErase =
  ({ sessionOwner, deletedBy }: { sessionOwner: string; deletedBy: string | null }) =>
  (state: Session): SessionEvent<'ApprovalWithdrawn' | 'RunCancelled' | 'SessionErased'>[] => {
    const { status, ownerId, running } = state
    const there = status === 'open' || status === 'forking'
    if (!there || ownerId !== sessionOwner) throw refusal('session_not_found')
    const delegated = deletedBy !== sessionOwner
    const erased = {
      type: 'SessionErased',
      data: { deletedBy, sessionOwner, delegated },
    } as const
    if (!running) return [erased]
    const { runId } = running
    const cancelled = { type: 'RunCancelled', data: { runId, ...uncharged } } as const
    return [...withdrawn(state, runId, 'cancelled'), cancelled, erased]
  }
