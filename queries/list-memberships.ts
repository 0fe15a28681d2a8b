import type { MemberView } from '../projections/members.ts'
import type { OrganizationView } from '../projections/organizations.ts'
import type { UserView } from '../projections/users.ts'
import type { View } from '../src/ports/views.ts'
import { type Page, paging, skipTo } from './page.ts'

type Uses = {
  members: View<MemberView>
  organizations: View<OrganizationView>
  users: View<UserView>
}

/** A user's memberships and invitations, the oldest first. */
export const listMemberships =
  ({ members, organizations, users }: Uses) =>
  async (userId: string, page: Page) => {
    const { items, total } = await members.find({
      index: 'by_user',
      equals: [userId],
      skip: skipTo(page),
      limit: page.pageSize,
    })
    const user = await users.get(userId)
    const memberships = items.map(
      async ({ organization_id, role, status, created_at, ...more }) => ({
        organization_id,
        name: (await organizations.get(organization_id))?.name ?? null,
        role,
        status,
        current: user?.current_organization_id === organization_id,
        allow_backing: more.allows_backing === true,
        invited_at: created_at,
      }),
    )
    return { memberships: await Promise.all(memberships), ...paging(total, page) }
  }
export type ListMemberships = ReturnType<typeof listMemberships>
