import { memberStream, requireActive } from '../src/domain/member/member.ts'
import { decideEnter, userStream } from '../src/domain/user/user.ts'
import type { Streams } from '../src/event-sourcing/transactor.ts'
import { type Call, platformOf } from '../src/ports/call.ts'

export type EnterOrganization = { organizationId: string; userId: string }

/** An organization becomes the current one of its member. @throws member_not_found */
export const enterOrganization =
  ({ load, transact }: Streams) =>
  async ({ organizationId, userId }: EnterOrganization, call: Call) => {
    requireActive((await load(memberStream(organizationId, userId))).state)
    const entered = await transact(
      userStream(userId),
      decideEnter(organizationId),
      platformOf(call),
    )
    return { position: entered.position }
  }
export type EnterOrganizationCommand = ReturnType<typeof enterOrganization>
