import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { erasure } from '../erasure.ts'
import { position } from '../event.ts'
import { sealed } from '../sealed.ts'

const role = z.enum(['OWNER', 'ADMIN', 'MEMBER'])
const nothing = z.object({})

/** What the platform did to an account; amounts in micro-credits, negative where taken back. */
export const accountChange = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('credits'), amount: z.int() }),
  z.object({ kind: z.literal('plan'), plan: z.string().nullable() }),
  z.object({ kind: z.literal('identity') }),
])

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const memberEvents = {
  /**
   * `pending` until the person joins; `provisioned` where a partner's key added the account.
   * `email` and `name` are those of the invitation. `again`: the person had joined before, and was
   * removed.
   */
  MemberAdded: z.object({
    role,
    status: z.enum(['pending', 'active']),
    provisioned: z.literal(true).optional(),
    email: sealed.optional(),
    name: sealed.optional(),
    again: z.literal(true).optional(),
  }),
  MemberActivated: nothing,
  /** The person agreed that others make keys that she backs. */
  BackingAllowed: nothing,
  /** The invited person does not join; the organization may invite again. */
  InvitationDeclined: nothing,
  MemberRoleChanged: z.object({ role }),
  /**
   * The platform changed the account of the person, who was an active member then. `eventId`,
   * `position` and `at` are those of the event that tells so in the platform's history.
   */
  MemberAccountChanged: z.object({
    change: accountChange,
    eventId: z.string(),
    position,
    at: z.string(),
  }),
  /** The same person may be added again. */
  MemberRemoved: nothing,
  /** What the organization had of the person besides conversations; also of a former member. */
  PersonalDataErased: erasure,
}

export type MemberEvent<Type extends keyof typeof memberEvents = keyof typeof memberEvents> =
  EventOf<typeof memberEvents, Type>

export type MemberRole = z.infer<typeof role>
