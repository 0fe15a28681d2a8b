import { getCredential, listCredentials } from '../queries/list-credentials.ts'
import { listProvisionedUsers } from '../queries/list-provisioned-users.ts'
import { listSessionIds } from '../queries/list-sessions.ts'
import type { Commands } from './app-commands.ts'
import type { viewsOf } from './app-reads.ts'
import type { Passed } from './http/admin-wire.ts'
import { managementCredentialRoutes } from './http/routes/management-credentials.ts'
import { managementSessionRoutes } from './http/routes/management-sessions.ts'
import { managementUserRoutes } from './http/routes/management-users.ts'
import { meCredentialRoutes } from './http/routes/me-credentials.ts'
import type { Secrets } from './secrets.ts'
import type { Turns } from './turns/turns.ts'
import type { Vault } from './vault.ts'

type Uses = Commands &
  Awaited<ReturnType<typeof viewsOf>> & {
    open: Vault['open']
    secrets: Secrets
    turns: Pick<Turns, 'cancel'>
    passed: Passed
    /** The last position of the log. */
    head(): Promise<number>
  }

/** What partners do for the accounts that they make, and what users do for themselves. */
export const provisioningOf = (uses: Uses) => {
  const { credentials } = uses
  const { hashEmail } = uses.secrets
  const credentialUses = {
    ...uses,
    listCredentials: listCredentials(credentials),
    getCredential: getCredential(credentials),
  }
  return {
    keyed: [
      managementUserRoutes({
        ...uses,
        listProvisionedUsers: listProvisionedUsers({ ...uses, hashEmail }),
      }),
      managementCredentialRoutes(credentialUses),
      managementSessionRoutes({ ...uses, listSessionIds: listSessionIds(uses.sessions) }),
      meCredentialRoutes(credentialUses),
    ],
  }
}
