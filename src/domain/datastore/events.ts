import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'

const identity = z.object({ datastoreId: z.string() })

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const dataStoreEvents = {
  DataStoreCreated: identity.extend({
    displayName: z.string(),
    description: z.string().nullable(),
  }),
  /** Uploads into it are about to be received; it is in use until they are finished. */
  UploadsBegun: identity.extend({
    uploads: z.array(z.object({ uploadId: z.string(), filename: z.string() })),
  }),
  /** They are completed, failed or removed, whichever it is: their files' own streams tell. */
  UploadsFinished: identity.extend({ uploadIds: z.array(z.string()) }),
  /** From here on it is not seen; its files are still to be removed. */
  DataStoreDeleted: identity,
  /** Its files are removed, all of them. */
  DataStoreCleared: identity,
}

export type DataStoreEvent<
  Type extends keyof typeof dataStoreEvents = keyof typeof dataStoreEvents,
> = EventOf<typeof dataStoreEvents, Type>
