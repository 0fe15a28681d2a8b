import { type MemberView, memberDocumentId } from '../projections/members.ts'
import type { UserView } from '../projections/users.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'
import { type Page, paging, skipTo } from './page.ts'

type Uses = { members: View<MemberView>; users: View<UserView>; open: Vault['open'] }

/** A membership with its person's email and name; null once those were erased. */
const personOf =
  ({ users, open }: Uses) =>
  async ({ organization_id: _, provisioned: __, ...member }: MemberView) => {
    const user = await users.get(member.user_id)
    const [email, name] = user ? await Promise.all([open(user.email), open(user.name)]) : []
    return { ...member, email: email ?? null, name: name ?? null }
  }

/** An organization's members, pending ones included, in the order in which they were added. */
export const listMembers = (uses: Uses) => async (organizationId: string, page: Page) => {
  const { items, total } = await uses.members.find({
    index: 'by_organization',
    equals: [organizationId],
    skip: skipTo(page),
    limit: page.pageSize,
  })
  return { members: await Promise.all(items.map(personOf(uses))), ...paging(total, page) }
}
export type ListMembers = ReturnType<typeof listMembers>

/** @throws member_not_found */
export const getMember = (uses: Uses) => async (organizationId: string, userId: string) => {
  const found = await uses.members.get(memberDocumentId(organizationId, userId))
  if (!found) throw refusal('member_not_found')
  return personOf(uses)(found)
}
export type GetMember = ReturnType<typeof getMember>
