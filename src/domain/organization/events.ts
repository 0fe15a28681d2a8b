import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const id = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const organizationEvents = {
  /** `ownerUserId` is the first owner; the orchestrator is one of the organization's agents. */
  OrganizationCreated: z.object({
    name: z.string(),
    ownerUserId: id,
    orchestratorAgentId: id,
  }),
  OrganizationRenamed: z.object({ name: z.string() }),
  /** `#rrggbb`, for pages that people see; null: none. */
  OrganizationColored: z.object({ color: z.string().nullable() }),
  OwnerAdded: z.object({ userId: id }),
  OwnerRemoved: z.object({ userId: id }),
}

export type OrganizationEvent<
  Type extends keyof typeof organizationEvents = keyof typeof organizationEvents,
> = EventOf<typeof organizationEvents, Type>
