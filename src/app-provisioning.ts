import type { ProvisionUserCommand } from '../commands/provision-user.ts'
import type { MemberView } from '../projections/members.ts'
import type { UserView } from '../projections/users.ts'
import { listProvisionedUsers } from '../queries/list-provisioned-users.ts'
import type { Passed } from './http/admin-wire.ts'
import { managementUserRoutes } from './http/routes/management-users.ts'
import type { View } from './ports/views.ts'
import type { Secrets } from './secrets.ts'
import type { Vault } from './vault.ts'

type Uses = {
  provisionUser: ProvisionUserCommand
  members: View<MemberView>
  users: View<UserView>
  open: Vault['open']
  secrets: Secrets
  passed: Passed
}

/** What partners do for the accounts that they make. */
export const provisioningOf = (uses: Uses) => {
  const { hashEmail } = uses.secrets
  return {
    keyed: [
      managementUserRoutes({
        ...uses,
        listProvisionedUsers: listProvisionedUsers({ ...uses, hashEmail }),
      }),
    ],
  }
}
