import { z } from 'zod'
import { credentialEvents } from '../src/domain/credential/events.ts'
import type { Recorded } from '../src/domain/event.ts'
import { sealed } from '../src/domain/sealed.ts'
import { id, incomplete, text, timestamp } from './fields.ts'
import { idIn, projection } from './projection.ts'

/** `value` is for the user's tools alone: no answer holds it, sealed or not. */
export const credentialView = z.object({
  name: text,
  organization_id: id,
  user_id: id,
  value: sealed,
  /** Hosts that may receive it; absent in values stored before hosts were recorded. */
  hosts: z.array(text).optional(),
  created_at: timestamp,
  updated_at: timestamp,
  incomplete,
})
export type CredentialView = z.infer<typeof credentialView>

const withheld = z.object({ withheld: z.literal(true) })

export const credentialDocumentId = (
  organizationId: string,
  userId: string,
  name: string,
): string => `${organizationId}/${userId}/${name}`

const ofStream = ({ stream, metadata }: Recorded) => ({
  index: 'by_user',
  equals: [metadata.organization_id, idIn(stream)],
})

export const credentials = projection<CredentialView, typeof credentialEvents>()({
  name: 'credentials',
  schema: credentialView,
  shown: { schema: credentialView.extend({ value: withheld }) },
  categories: ['credentials'],
  events: credentialEvents,
  indexes: { by_user: { equals: ['organization_id', 'user_id'], orderBy: 'name' } },
  id: ({ stream, metadata, data }) =>
    'name' in data ? credentialDocumentId(metadata.organization_id, idIn(stream), data.name) : [],
  ofStream,
  creates: {
    CredentialStored: ({ stream, metadata, data }) => ({
      name: data.name,
      organization_id: metadata.organization_id,
      user_id: idIn(stream),
      value: data.value,
      ...(data.hosts ? { hosts: data.hosts } : {}),
      created_at: metadata.at,
      updated_at: metadata.at,
    }),
  },
  changes: {
    CredentialRotated: ({ hosts: _, ...view }, { data, metadata }) => ({
      ...view,
      value: data.value,
      ...(data.hosts ? { hosts: data.hosts } : {}),
      updated_at: metadata.at,
    }),
  },
  removes: ['CredentialDeleted'],
  clears: { CredentialsErased: ofStream },
  ignores: {},
})
