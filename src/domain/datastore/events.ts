import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const identity = z.object({ datastoreId: z.string() })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const dataStoreEvents = {
  DataStoreCreated: identity.extend({
    displayName: z.string(),
    description: z.string().nullable(),
  }),
  /** From here on it is not seen; its files are still to be removed. */
  DataStoreDeleted: identity,
  /** Its files are removed, all of them. */
  DataStoreCleared: identity,
}

export type DataStoreEvent<
  Type extends keyof typeof dataStoreEvents = keyof typeof dataStoreEvents,
> = EventOf<typeof dataStoreEvents, Type>
