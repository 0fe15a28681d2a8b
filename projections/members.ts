import { z } from 'zod'
import { memberEvents } from '../src/domain/member/events.ts'
import { sealed } from '../src/domain/sealed.ts'
import { flag, id, incomplete, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

export const memberView = z.object({
  organization_id: id,
  user_id: id,
  role: memberEvents.MemberAdded.shape.role,
  status: memberEvents.MemberAdded.shape.status,
  /** Only where a partner's key added the account. */
  provisioned: flag,
  /** Only where the person agreed to back keys that others make. */
  allows_backing: flag,
  /** What the organization invited the person with; absent: a founder, or an older event. */
  email: sealed.optional(),
  name: sealed.optional(),
  /** Only where the person had joined before, and was removed. */
  again: flag,
  created_at: timestamp,
  incomplete,
})
export type MemberView = z.infer<typeof memberView>

/** One person may be a member of many organizations. */
export const memberDocumentId = (organizationId: string, userId: string): string =>
  `${organizationId}/${userId}`

export const members = projection<MemberView, typeof memberEvents>()({
  name: 'members',
  schema: memberView,
  shown: {
    schema: memberView.omit({ email: true, name: true, again: true }),
    document: ({ email: _, name: __, again: ___, ...member }) => member,
  },
  categories: ['member'],
  events: memberEvents,
  indexes: {
    by_organization: { equals: ['organization_id'], orderBy: 'created_at' },
    by_provisioned: { equals: ['organization_id', 'provisioned'], orderBy: 'created_at' },
    by_user: { equals: ['user_id'], orderBy: 'created_at' },
  },
  id: ({ stream, metadata }) => memberDocumentId(metadata.organization_id, idIn(stream)),
  creates: {
    MemberAdded: ({ stream, data, metadata }) => ({
      organization_id: metadata.organization_id,
      user_id: idIn(stream),
      role: data.role,
      status: data.status,
      ...(data.provisioned ? { provisioned: true } : {}),
      ...(data.email ? { email: data.email } : {}),
      ...(data.name ? { name: data.name } : {}),
      ...(data.again ? { again: true } : {}),
      created_at: metadata.at,
    }),
  },
  changes: {
    MemberActivated: (view) => ({ ...view, status: 'active' }),
    BackingAllowed: (view) => ({ ...view, allows_backing: true }),
    MemberRoleChanged: (view, { data }) => ({ ...view, role: data.role }),
  },
  removes: ['MemberRemoved', 'InvitationDeclined'],
  ignores: { MemberAccountChanged: true, PersonalDataErased: true },
})
