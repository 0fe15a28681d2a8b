import { memberStream, requireProvisioned } from '../src/domain/member/member.ts'
import type { Load } from '../src/event-sourcing/transactor.ts'
import type { Call } from '../src/ports/call.ts'

/**
 * Passes if the call's organization provisioned the user. Checked before anything is done for or to
 * a provisioned user. @throws user_not_found, not_provisioned
 */
export const requireProvisionedUser =
  ({ load }: { load: Load }) =>
  async (userId: string, call: Call): Promise<void> => {
    requireProvisioned((await load(memberStream(call.organizationId, userId))).state)
  }
export type RequireProvisionedUser = ReturnType<typeof requireProvisionedUser>
