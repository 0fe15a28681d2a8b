import { type UserEvent, userEvents } from '../src/domain/user/events.ts'
import type { Projection } from './projection.ts'

type Registered = UserEvent<'UserRegistered'>['data']

/** Email and name stay sealed; queries open them. */
export type UserView = {
  user_id: string
  email: Registered['email']
  email_hash: string
  name: Registered['name']
  origin: Registered['origin']
  /** The organization that provisioned the account. */
  provisioned_by: string | null
  /** Whether the person ever signed in. */
  signed_in: boolean
  current_organization_id: string | null
  plan: string | null
  created_at: string
}

export const users: Projection<UserView, typeof userEvents> = {
  name: 'users',
  categories: ['user'],
  events: userEvents,
  indexes: {
    by_email: { equals: ['email_hash'] },
  },
  id: ({ stream }) => stream.slice('user-'.length),
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
    CurrentOrganizationChanged: (view, { data }) => ({
      ...view,
      current_organization_id: data.organizationId,
    }),
    SubscriptionChanged: (view, { data }) => ({ ...view, plan: data.plan }),
  },
}
