import { z } from 'zod'
import type { EventOf } from '../aggregate.ts'
import { erasure } from '../erasure.ts'
import { sealed } from '../sealed.ts'

const name = z.string()

/** The hosts that its owner agreed to send it to. */
const hosts = z.array(z.string()).optional()

// Stored for good: add an optional field or a new event; never rename, never narrow.
export const credentialEvents = {
  CredentialStored: z.object({ name, value: sealed, hosts }),
  /** Another value under a name that has one. */
  CredentialRotated: z.object({ name, value: sealed, hosts }),
  CredentialDeleted: z.object({ name }),
  /**
   * All credentials of the user in the organization, those deleted before as well; `names` are
   * those that had a value until then.
   */
  CredentialsErased: erasure.extend({ names: z.array(name).optional() }),
}

export type CredentialEvent<
  Type extends keyof typeof credentialEvents = keyof typeof credentialEvents,
> = EventOf<typeof credentialEvents, Type>
