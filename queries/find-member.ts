import { type MemberView, memberDocumentId } from '../projections/members.ts'
import type { View } from '../src/ports/views.ts'

/** A user's membership in an organization; undefined: the organization does not know the user. */
export const findMember =
  ({ members }: { members: View<MemberView> }) =>
  (organizationId: string, userId: string) =>
    members.get(memberDocumentId(organizationId, userId))
