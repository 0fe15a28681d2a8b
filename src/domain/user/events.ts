import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { erasure } from '../erasure.ts'
import { sealed } from '../sealed.ts'

const id = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const userEvents = {
  /**
   * How the account came to be: `owner` with an organization, `member` by an invitation,
   * `provisioned` by a partner (`provisionedBy` is that organization), `self` by signing in.
   */
  UserRegistered: z.object({
    email: sealed,
    emailHash: z.string(),
    name: sealed,
    origin: z.enum(['owner', 'member', 'provisioned', 'self']),
    provisionedBy: id.optional(),
  }),
  /** The person signed in with this identity provider for the first time. */
  IdentityLinked: z.object({ provider: z.string(), subjectHash: z.string() }),
  /** The person signed in with a new address. */
  AddressChanged: z.object({ email: sealed, emailHash: z.string() }),
  /** An organization invites this user; the membership follows. */
  UserInvited: z.object({ organizationId: id }),
  /** Those invitations were taken up or are void. */
  InvitationsSettled: z.object({ organizationIds: z.array(id) }),
  CurrentOrganizationChanged: z.object({ organizationId: id }),
  /** An id of a plan; null: none. */
  SubscriptionChanged: z.object({ plan: z.string().nullable() }),
  /** Address and name, of an account that only one organization ever had to do with. */
  AccountErased: erasure,
}

export type UserEvent<Type extends keyof typeof userEvents = keyof typeof userEvents> = EventOf<
  typeof userEvents,
  Type
>
