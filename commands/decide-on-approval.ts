import { canGoOn, type Decision, decideApproval } from '../src/domain/session/approvals.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'
import { sessionKey, type Vault } from '../src/security/vault.ts'

export type DecideApproval = Omit<Decision, 'reason' | 'at'> & {
  sessionId: string
  reason: string | undefined
}

/**
 * Approves or denies a call. `goesOn`: its run is to be resumed, since it waits for no other
 * decision. @throws approval_decided, arguments_changed
 */
export const decideOnApproval =
  ({ transact, seal }: { transact: Transact; seal: Vault['seal'] }) =>
  async ({ sessionId, reason, ...decision }: DecideApproval, call: Call) => {
    const { organizationId, at } = call
    const sealed = reason ? await seal(sessionKey(organizationId, sessionId), reason) : undefined
    const decide = decideApproval({ ...decision, reason: sealed, at })
    const stream = sessionStream(organizationId, sessionId)
    const { state, position } = await transact(stream, decide, call)
    return { goesOn: canGoOn(state), position }
  }
export type DecideOnApprovalCommand = ReturnType<typeof decideOnApproval>
