import { z } from 'zod'
import { sealed } from '../sealed.ts'

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const installationEvents = {
  /** Written before everything else. `check` opens with the keys that all sealed texts rest on. */
  KeysRegistered: z.object({ check: sealed }),
  /** The store could not be written from `from` (ISO 8601) until this event. */
  OutageEnded: z.object({ from: z.string() }),
}
