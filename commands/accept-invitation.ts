import { latest } from '../src/domain/event.ts'
import { decideAccept, memberStream } from '../src/domain/member/member.ts'
import {
  decideEnter,
  decideEnterFirst,
  decideSettleInvitations,
  userStream,
} from '../src/domain/user/user.ts'
import type { Transact } from '../src/event-sourcing/transactor.ts'
import { type Call, platformOf } from '../src/ports/call.ts'

export type AcceptInvitation = {
  organizationId: string
  userId: string
  /** Others may make keys that the person backs. */
  allowBacking: boolean
  /** The organization becomes the person's current one; without one it does in any case. */
  current: boolean
}

/**
 * A person joins an organization that invited her. What concerns her account is told to no
 * organization. @throws invitation_not_found
 */
export const acceptInvitation =
  ({ transact }: { transact: Transact }) =>
  async ({ organizationId, userId, allowBacking, current }: AcceptInvitation, call: Call) => {
    const inside = { ...call, organizationId }
    const membership = memberStream(organizationId, userId)
    const accepted = await transact(membership, decideAccept({ allowBacking }), inside)
    const account = userStream(userId)
    const outside = platformOf(call)
    const settled = await transact(account, decideSettleInvitations([organizationId]), outside)
    const enter = current ? decideEnter : decideEnterFirst
    const entered = await transact(account, enter(organizationId), outside)
    return { position: latest(accepted.position, settled.position, entered.position) }
  }
export type AcceptInvitationCommand = ReturnType<typeof acceptInvitation>
