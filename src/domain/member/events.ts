import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const role = z.enum(['OWNER', 'ADMIN', 'MEMBER'])
const nothing = z.object({})

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const memberEvents = {
  /** `pending` until the person signs in; `provisioned` where a partner's key added the account. */
  MemberAdded: z.object({
    role,
    status: z.enum(['pending', 'active']),
    provisioned: z.literal(true).optional(),
  }),
  MemberActivated: nothing,
  MemberRoleChanged: z.object({ role }),
  /** The same person may be added again. */
  MemberRemoved: nothing,
}

export type MemberEvent<Type extends keyof typeof memberEvents = keyof typeof memberEvents> =
  EventOf<typeof memberEvents, Type>

export type MemberRole = z.infer<typeof role>
