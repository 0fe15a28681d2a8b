import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { sealed } from '../sealed.ts'

const name = z.string()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const credentialEvents = {
  CredentialStored: z.object({ name, value: sealed }),
  /** Another value under a name that has one. */
  CredentialRotated: z.object({ name, value: sealed }),
  CredentialDeleted: z.object({ name }),
}

export type CredentialEvent<
  Type extends keyof typeof credentialEvents = keyof typeof credentialEvents,
> = EventOf<typeof credentialEvents, Type>
