import { type MemberView, memberDocumentId } from '../projections/members.ts'
import type { UserView } from '../projections/users.ts'
import type { View } from '../src/ports/views.ts'
import type { Secrets } from '../src/security/secrets.ts'
import type { Vault } from '../src/security/vault.ts'
import { personOf } from './get-member.ts'
import { type Page, paging, skipTo } from './page.ts'

type Uses = {
  members: View<MemberView>
  users: View<UserView>
  open: Vault['open']
} & Pick<Secrets, 'hashEmail' | 'earlierEmailHashes'>

/** With an email: the one account of that address. */
type Query = { organizationId: string; email: string | undefined; page: Page }

/** The accounts that an organization provisioned, oldest first. */
export const listProvisionedUsers = (uses: Uses) => {
  const { members, users, open, hashEmail, earlierEmailHashes } = uses

  const userOf = async (email: string): Promise<UserView | undefined> => {
    for (const hash of [hashEmail(email), ...earlierEmailHashes(email)]) {
      const { items } = await users.find({ index: 'by_email', equals: [hash], limit: 1 })
      if (items[0]) return items[0]
    }
    return undefined
  }

  const ofAddress = async (organizationId: string, email: string, page: Page) => {
    const user = await userOf(email)
    const member = user && (await members.get(memberDocumentId(organizationId, user.user_id)))
    const matches = member?.provisioned ? [member] : []
    return { items: page.page === 1 ? matches : [], total: matches.length }
  }

  const person = personOf({ users, open })
  const userAnswer = async (member: MemberView) => ({
    user_id: member.user_id,
    ...(await person(member)),
    membership_status: member.status,
    created_at: member.created_at,
  })

  return async ({ organizationId, email, page }: Query) => {
    const { items, total } = email
      ? await ofAddress(organizationId, email, page)
      : await members.find({
          index: 'by_provisioned',
          equals: [organizationId, true],
          skip: skipTo(page),
          limit: page.pageSize,
        })
    return { users: await Promise.all(items.map(userAnswer)), ...paging(total, page) }
  }
}
export type ListProvisionedUsers = ReturnType<typeof listProvisionedUsers>
