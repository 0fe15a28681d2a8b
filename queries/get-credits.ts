import type { AccountView } from '../projections/accounts.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import type { UserView } from '../projections/users.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import { findBalance } from './find-balance.ts'

type Uses = {
  organizations: View<OrganizationView>
  users: View<UserView>
  accounts: View<AccountView>
}

const mostOwners = 100

/**
 * Plan and balance, in micro-credits, of the owners of an organization (the first 100). @throws
 * organization_not_found
 */
export const getCredits =
  ({ organizations, users, accounts }: Uses) =>
  async (organizationId: string) => {
    const organization = await organizations.get(organizationId)
    if (!organization) throw refusal('organization_not_found')
    const owners = organization.owner_user_ids.slice(0, mostOwners)
    return Promise.all(
      owners.map(async (userId) => {
        const [user, account] = await Promise.all([
          users.get(userId),
          findBalance({ accounts })(userId),
        ])
        return { userId, plan: user?.plan ?? null, ...(account ?? { balance: 0, effective: 0 }) }
      }),
    )
  }
export type GetCredits = ReturnType<typeof getCredits>
