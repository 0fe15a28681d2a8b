import { canGoOn, decideExpiry } from '../src/domain/session/approvals.ts'
import { sessionStream } from '../src/domain/session/session.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type ExpireApproval = { sessionId: string; approvalId: string }

/** Denies a call without a decision after its expiry; otherwise changes nothing. */
export const expireApproval =
  ({ transact }: { transact: Transact }) =>
  async ({ sessionId, approvalId }: ExpireApproval, call: Call) => {
    const stream = sessionStream(call.organizationId, sessionId)
    const { events, state, position } = await transact(
      stream,
      decideExpiry(approvalId, call.at),
      call,
    )
    return { expired: events.length > 0, goesOn: canGoOn(state), position }
  }
export type ExpireApprovalCommand = ReturnType<typeof expireApproval>
