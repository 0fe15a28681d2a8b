import { z } from 'zod'
import { userEvents } from '../src/domain/user/events.ts'
import { id, incomplete, text } from './fields.ts'
import { platformIdIn, projection } from './projection.ts'

/** The account that an identity was linked to first. */
export const identityView = z.object({
  provider: text,
  subject_hash: text,
  user_id: id,
  incomplete,
})
export type IdentityView = z.infer<typeof identityView>

export const identityDocumentId = (provider: string, subjectHash: string): string =>
  `${subjectHash}/${provider}`

export const identities = projection<IdentityView, typeof userEvents>()({
  name: 'identities',
  schema: identityView,
  categories: ['user'],
  events: userEvents,
  indexes: { by_user: { equals: ['user_id'] } },
  id: (event) =>
    event.type === 'IdentityLinked'
      ? identityDocumentId(event.data.provider, event.data.subjectHash)
      : [],
  ofStream: ({ stream }) => ({ index: 'by_user', equals: [platformIdIn(stream)] }),
  creates: {
    IdentityLinked: ({ stream, data }) => ({
      provider: data.provider,
      subject_hash: data.subjectHash,
      user_id: platformIdIn(stream),
    }),
  },
  changes: {},
  // biome-ignore format: few lines
  ignores: {
    UserRegistered: true, AddressChanged: true, UserInvited: true, InvitationsSettled: true,
    CurrentOrganizationChanged: true, SubscriptionChanged: true, AccountErased: true,
  },
})
