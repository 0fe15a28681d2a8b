import { z } from 'zod'
import { sealed } from '../src/domain/sealed.ts'
import { userEvents } from '../src/domain/user/events.ts'
import { id, incomplete, text, timestamp } from './fields.ts'
import { platformIdIn, projection } from './projection.ts'

/** Email and name stay sealed; queries open them. */
const userView = z.object({
  user_id: id,
  email: sealed,
  email_hash: text,
  name: sealed,
  origin: userEvents.UserRegistered.shape.origin,
  /** The organization that provisioned the account. */
  provisioned_by: id.nullable(),
  /** Whether the person ever signed in. */
  signed_in: z.boolean(),
  current_organization_id: id.nullable(),
  plan: text.nullable(),
  created_at: timestamp,
  incomplete,
})
export type UserView = z.infer<typeof userView>

export const users = projection<UserView, typeof userEvents>()({
  name: 'users',
  schema: userView,
  categories: ['user'],
  events: userEvents,
  indexes: {
    by_email: { equals: ['email_hash'] },
  },
  id: ({ stream }) => platformIdIn(stream),
  creates: {
    UserRegistered: ({ data, metadata }, id) => ({
      user_id: id,
      email: data.email,
      email_hash: data.emailHash,
      name: data.name,
      origin: data.origin,
      provisioned_by: data.provisionedBy ?? null,
      signed_in: false,
      current_organization_id: null,
      plan: null,
      created_at: metadata.at,
    }),
  },
  changes: {
    IdentityLinked: (view) => ({ ...view, signed_in: true }),
    AddressChanged: (view, { data }) => ({
      ...view,
      email: data.email,
      email_hash: data.emailHash,
    }),
    CurrentOrganizationChanged: (view, { data }) => ({
      ...view,
      current_organization_id: data.organizationId,
    }),
    SubscriptionChanged: (view, { data }) => ({ ...view, plan: data.plan }),
  },
  ignores: { UserInvited: true, InvitationsSettled: true, AccountErased: true },
})
