import { decideEndBacking, organizationKeyStream } from '../src/domain/api-key/api-key.ts'
import { connectStream, decideRevokeLinks } from '../src/domain/connect/connect.ts'
import { latest } from '../src/domain/event.ts'
import { type By, decideRemove, memberStream } from '../src/domain/member/member.ts'
import { decideRemoveOwner, organizationStream } from '../src/domain/organization/organization.ts'
import { decideSettleInvitations, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

export type RemoveMember = {
  userId: string
  by: By
  /** The organization's keys that the member backs. */
  keyIds?: readonly string[]
}

/**
 * Revokes the keys that the member backs and the connect links, then ends the membership. When
 * repeated after a crash, it completes the removal.
 * @throws member_not_found, owner_required, last_owner
 */
export const removeMember =
  ({ load, transact }: Streams) =>
  async ({ userId, by, keyIds = [] }: RemoveMember, call: Call) => {
    const { organizationId } = call
    const membership = memberStream(organizationId, userId)
    const decide = decideRemove(by)
    decide((await load(membership)).state)
    await transact(organizationStream(organizationId), decideRemoveOwner(userId), call)
    for (const keyId of keyIds)
      await transact(organizationKeyStream(organizationId, keyId), decideEndBacking(userId), call)
    await transact(connectStream(organizationId, userId), decideRevokeLinks(call.at), call)
    const removed = await transact(membership, decide, call)
    const withdraw = decideSettleInvitations([organizationId])
    const withdrawn = await transact(userStream(userId), withdraw, call)
    return { position: latest(removed.position, withdrawn.position) }
  }
export type RemoveMemberCommand = ReturnType<typeof removeMember>
