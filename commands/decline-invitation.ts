import { latest } from '../src/domain/event.ts'
import { decideDecline, memberStream } from '../src/domain/member/member.ts'
import { decideSettleInvitations, userStream } from '../src/domain/user/user.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import { type Call, platformOf } from '../src/ports/call.ts'

export type DeclineInvitation = { organizationId: string; userId: string }

/** A person does not join an organization that invited her. @throws invitation_not_found */
export const declineInvitation =
  ({ transact }: { transact: Transact }) =>
  async ({ organizationId, userId }: DeclineInvitation, call: Call) => {
    const membership = memberStream(organizationId, userId)
    const declined = await transact(membership, decideDecline, { ...call, organizationId })
    const settle = decideSettleInvitations([organizationId])
    const settled = await transact(userStream(userId), settle, platformOf(call))
    return { position: latest(declined.position, settled.position) }
  }
export type DeclineInvitationCommand = ReturnType<typeof declineInvitation>
