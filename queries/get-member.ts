import { type MemberView, memberDocumentId } from '../projections/members.ts'
import type { UserView } from '../projections/users.ts'
import { refusal } from '../src/domain/refusal.ts'
import type { View } from '../src/ports/views.ts'
import type { Vault } from '../src/security/vault.ts'

export type MemberUses = { members: View<MemberView>; users: View<UserView>; open: Vault['open'] }

/**
 * What an organization knows of a member: the email and name that it invited the person with, never
 * those that another organization gave. Only of a member whom it did not invite (a founder), those
 * of the account. Null once they were erased.
 */
export const personOf =
  ({ users, open }: Omit<MemberUses, 'members'>) =>
  async ({ user_id, status, email, name }: MemberView) => {
    const account = email || status !== 'active' ? undefined : await users.get(user_id)
    const known = { email: email ?? account?.email, name: name ?? account?.name }
    const [address, called] = await Promise.all([
      known.email && open(known.email),
      known.name && open(known.name),
    ])
    return { email: address ?? null, name: called ?? null }
  }

/** A membership with its person. */
export const memberAnswer = (uses: Omit<MemberUses, 'members'>) => async (member: MemberView) => {
  const { user_id, role, status, created_at } = member
  return { user_id, ...(await personOf(uses)(member)), role, status, created_at }
}

/** @throws member_not_found */
export const getMember = (uses: MemberUses) => async (organizationId: string, userId: string) => {
  const member = await uses.members.get(memberDocumentId(organizationId, userId))
  if (!member) throw refusal('member_not_found')
  return memberAnswer(uses)(member)
}
export type GetMember = ReturnType<typeof getMember>
