import { memberStream, requireErasable } from '../src/domain/member/member.ts'
import type { Load } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/**
 * Passes if the call's organization provisioned the user, or the user was its member and is no
 * longer. Checked before conversations, memories, credentials and personal data are erased.
 * @throws user_not_found, not_provisioned
 */
export const requireErasableUser =
  ({ load }: { load: Load }) =>
  async (userId: string, call: Call): Promise<void> => {
    requireErasable((await load(memberStream(call.organizationId, userId))).state)
  }
export type RequireErasableUser = ReturnType<typeof requireErasableUser>
