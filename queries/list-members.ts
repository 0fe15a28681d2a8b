import { type MemberUses, memberAnswer } from './get-member.ts'
import { type Page, paging, skipTo } from './page.ts'

/** An organization's members, pending ones included, in the order in which they were added. */
export const listMembers = (uses: MemberUses) => async (organizationId: string, page: Page) => {
  const { items, total } = await uses.members.find({
    index: 'by_organization',
    equals: [organizationId],
    skip: skipTo(page),
    limit: page.pageSize,
  })
  return { members: await Promise.all(items.map(memberAnswer(uses))), ...paging(total, page) }
}
export type ListMembers = ReturnType<typeof listMembers>
