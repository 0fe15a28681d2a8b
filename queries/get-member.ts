import { type MemberView, memberDocumentId } from '../projections/members.ts'
import type { UserView } from '../projections/users.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'

export type MemberUses = { members: View<MemberView>; users: View<UserView>; open: Vault['open'] }

/** A membership with its person's email and name; null once those were erased. */
export const personOf =
  ({ users, open }: MemberUses) =>
  async ({ organization_id: _, provisioned: __, ...member }: MemberView) => {
    const user = await users.get(member.user_id)
    const [email, name] = user ? await Promise.all([open(user.email), open(user.name)]) : []
    return { ...member, email: email ?? null, name: name ?? null }
  }

/** @throws member_not_found */
export const getMember = (uses: MemberUses) => async (organizationId: string, userId: string) => {
  const found = await uses.members.get(memberDocumentId(organizationId, userId))
  if (!found) throw refusal('member_not_found')
  return personOf(uses)(found)
}
export type GetMember = ReturnType<typeof getMember>
